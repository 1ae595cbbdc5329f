import { ownTurn } from '../../../core/ownTurn.ts';
import { ComputationFailed, compute } from '../../threads/compute.ts';
import { type CallOutcome, hideInOutcome } from './redact.ts';

/** Milliseconds to hide secrets in an outcome. A tenant chooses both, and can make them slow to compare. */
const LIMIT_MS = 1_000;
/** Characters of the secrets times those of the outcome that take a few milliseconds at worst. */
const QUICK = 1_000_000;

/** Whose secrets they are, and the signal that ends the wait. */
interface Owner {
  workspaceId: string;
  signal?: AbortSignal | undefined;
}

/**
 * The outcome with these secrets hidden as by `redactor` (redact.ts); undefined when that takes too long. What may take long is done in
 * a thread.
 */
export async function hideInOutcomeOf(
  outcome: CallOutcome,
  secrets: readonly string[],
  { workspaceId, signal }: Owner,
): Promise<CallOutcome | undefined> {
  if (isQuick(outcome, secrets)) {
    // What reads the answer before, and what stores it after, takes some milliseconds too when it is large.
    await ownTurn();
    const hidden = hideInOutcome(outcome, secrets);
    await ownTurn();
    return hidden;
  }
  try {
    return await compute('hideInOutcome', [outcome, secrets], { workspaceId, limitMs: LIMIT_MS, signal });
  } catch (error) {
    if (error instanceof ComputationFailed) return undefined;
    throw error;
  }
}

/** A JSON value with these secrets hidden; undefined when that takes too long. */
export async function hideSecrets<T>(value: T, secrets: readonly string[], owner: Owner): Promise<T | undefined> {
  if (secrets.length === 0) return value;
  const hidden = await hideInOutcomeOf({ data: value, message: null }, secrets, owner);
  return hidden && (hidden.data as T);
}

function isQuick({ data, message }: CallOutcome, secrets: readonly string[]): boolean {
  // Without secrets the outcome is only made storable.
  const lengths = secrets.reduce((sum, { length }) => sum + length, 0);
  if (lengths === 0) return true;
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return lengths * (text.length + (message ?? '').length) <= QUICK;
}
