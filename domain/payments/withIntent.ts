import type { Kysely } from 'kysely';
import { newId } from '../../core/ids.ts';
import {
  closePaymentIntent,
  insertPaymentIntent,
  type PaymentIntentRow,
  settlePaymentIntent,
} from '../../db/queries/payments/intents.ts';
import type { DB } from '../../generated/db.ts';
import { type PaymentProvider, PaymentProviderError } from '../../integrations/payments/provider.ts';
import { healIntent, type IntentKind } from './heal.ts';
import {
  accountOf,
  asFault,
  findHubPayments,
  type HubPayments,
  type PaymentContext,
  providerFor,
} from './paymentsOf.ts';

/** An open intent is healed after this time: longer than any request that works on one may take. */
const HEAL_AFTER_MS = 5 * 60_000;

/** What is to be made or changed at the provider, and for which of our rows. */
export interface Intended {
  kind: IntentKind;
  /** The public id of the plan, coupon, client or hub. */
  subjectId: string;
  /** How the hub is paid, where the caller has read it; absent: it is read. */
  hub?: HubPayments;
}

/** What was made at the provider, before it is stored here. */
export interface MadeAtProvider<Made> {
  /** Null for a hub that sells by invoice. */
  made: Made | null;
  /** Closes the intent. In the transaction that stores what was made, or after it. */
  settle(db: Kysely<DB>): Promise<void>;
  /** Undoes what was made, when it could not be stored. Never throws: the reconciler does what is left. */
  undo(error: unknown): Promise<void>;
}

/**
 * The first half of `withIntent`, for a caller whose transaction stores more than what was made. What is neither settled nor undone is healed by the
 * reconciler. Throws PAYMENT_PROVIDER_ERROR; then nothing is left there.
 */
export async function makeAtProvider<Made>(
  context: PaymentContext,
  { kind, subjectId, hub }: Intended,
  make: (provider: PaymentProvider, key: string) => Promise<Made>,
): Promise<MadeAtProvider<Made>> {
  const { db, workspaceId, clock, runtime } = context;
  if (db.isTransaction) throw new Error('The payment provider is not called within a transaction.');
  const account = accountOf(hub ?? (await findHubPayments(db, workspaceId)));
  if (!account) return { made: null, settle: async () => {}, undo: async () => {} };
  const provider = providerFor(runtime, account);
  const now = clock.now();
  const intent: IntentAtWork = {
    workspace_id: workspaceId,
    id: newId(),
    kind,
    subject_id: subjectId,
    account: account.account,
    created_at: now,
    due_at: new Date(now.getTime() + HEAL_AFTER_MS),
  };
  await insertPaymentIntent(db, intent);
  try {
    const made = await make(provider, intent.id);
    return {
      made,
      settle: (at) => settlePaymentIntent(at, intent),
      undo: (error) => undo(context, provider, intent, error),
    };
  } catch (error) {
    await undo(context, provider, intent, error);
    throw asFault(error);
  }
}

/**
 * Changes something at the provider and here, or neither. `make` calls the provider, with a key of its own for this attempt; `store` then
 * writes what it returned, in a transaction of its own. What is under way is written down before: when `make` or `store` fails, what was
 * made is undone, and when the process dies the reconciler does it. For a hub that sells by invoice `make` is not called and `store` gets
 * null. Call it outside of transactions. Throws PAYMENT_PROVIDER_ERROR, and what `store` throws.
 */
export async function withIntent<Made, Result>(
  context: PaymentContext,
  intended: Intended,
  work: {
    make(provider: PaymentProvider, key: string): Promise<Made>;
    store(made: Made | null): Promise<Result>;
  },
): Promise<Result> {
  const { made, settle, undo: takeBack } = await makeAtProvider(context, intended, work.make);
  let result: Result;
  try {
    result = await work.store(made);
  } catch (error) {
    await takeBack(error);
    throw asFault(error);
  }
  // What is left open is healed: the reconciler finds that everything is as it should be.
  await settle(context.db).catch(() => undefined);
  return result;
}

type IntentAtWork = Pick<
  PaymentIntentRow,
  'workspace_id' | 'id' | 'kind' | 'subject_id' | 'account' | 'created_at' | 'due_at'
>;

/** Undoes at once what a failed attempt made. What cannot be undone now stays open. */
async function undo(
  context: PaymentContext,
  provider: PaymentProvider,
  intent: IntentAtWork,
  error: unknown,
): Promise<void> {
  try {
    await healIntent(context, provider, intent);
    // An answer that was lost may still be on its way there: it is looked at once more.
    const isOver = !(error instanceof PaymentProviderError) || error.failure !== 'unknown';
    if (isOver) await closePaymentIntent(context.db, intent, 'undone');
  } catch {
    // The reconciler tries again.
  }
}
