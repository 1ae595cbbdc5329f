import type { Kysely } from 'kysely';
import { ApiError, fault, isFinal } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import {
  ClaimLost,
  claimKey,
  type KeptAnswer,
  type KeyClaim,
  releaseClaim,
  storeAnswer,
} from '../../../db/queries/workspaces/idempotencyKeys.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { DB } from '../../../generated/db.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { PreparedWork, Work } from '../../../handlers/handler.ts';
import type { JobData, JobName, Jobs } from '../../../jobs/jobs.ts';
import type { ValidRequest } from '../contract/dispatcher.ts';
import { toApiError } from '../errors.ts';
import { contextOf, type Exchange, type HandlerParts } from '../exchange.ts';
import { sendJsonText } from '../sendJson.ts';
import type { HeldClaims } from './claims.ts';
import { keyedRequest } from './key.ts';
import { openAnswer, sealAnswer } from './sealedAnswers.ts';

const RETRY_AFTER = { 'Retry-After': '1' };

/** An error as it is kept: the answer to a retry has a request id of its own. */
function keptError({ code, message, status, details }: ApiError): KeptAnswer {
  return { status, body: JSON.stringify({ code, message, details }) };
}

/** The error that was kept. */
export function errorOf({ body }: KeptAnswer): ApiError {
  const { code, message, details } = JSON.parse(body) as Pick<ApiError, 'code' | 'message' | 'details'>;
  return fault(code, message, { details });
}

/** A handler whose work can be one transaction with its answer. */
export type CreatingHandler = Work<OperationId> | PreparedWork<OperationId>;

/** What answers requests with an Idempotency-Key need. */
export interface OnceParts extends HandlerParts {
  claims: HeldClaims;
}

/**
 * Runs the handler of a request with an Idempotency-Key unless it has an answer already, and stores its answer with its work, in one
 * transaction: a process that dies leaves both or neither. Throws what the handler throws, IDEMPOTENCY_KEY_REUSED, and
 * IDEMPOTENCY_IN_PROGRESS.
 */
export async function respondOnce(
  parts: OnceParts,
  valid: ValidRequest,
  handler: CreatingHandler,
  exchange: Exchange & { idempotencyKey: string },
): Promise<void> {
  const db = parts.forWorkspace(exchange.principal.workspaceId);
  const request = await keyedRequest(exchange, exchange.idempotencyKey, valid);
  const found = await claimKey(db, request, { claimId: newId(), now: parts.clock.now() });
  switch (found.state) {
    case 'reused':
      throw fault('IDEMPOTENCY_KEY_REUSED');
    case 'running':
      throw inProgress();
    case 'answered':
      return sendKept(exchange, openAnswer(parts.runtime.secrets, valid.operationId, request, found.answer));
    case 'claimed':
      return sendKept(exchange, await attempt(parts, valid, handler, exchange, found.claim));
  }
}

function inProgress(): ApiError {
  return fault('IDEMPOTENCY_IN_PROGRESS', undefined, { headers: RETRY_AFTER });
}

/** Sends a kept success, or throws a kept error. */
export function sendKept({ response }: Exchange, answer: KeptAnswer): void {
  if (answer.status >= 400) throw errorOf(answer);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  sendJsonText(response, answer.status, answer.body);
}

/** Handles the request with the claim. Returns its answer when that is stored; errors are thrown, stored or not. */
async function attempt(
  parts: OnceParts,
  valid: ValidRequest,
  handler: CreatingHandler,
  exchange: Exchange,
  claim: KeyClaim,
): Promise<KeptAnswer> {
  const db = parts.forWorkspace(claim.workspaceId);
  const letGo = parts.claims.hold(claim);
  const later = new LaterJobs();
  try {
    const work =
      typeof handler === 'function'
        ? handler
        : await handler.prepare(contextOf(parts, valid, exchange, { claim, jobs: later }));
    return await inTransaction(db, async (trx) => {
      let answer: KeptAnswer | undefined;
      const headers: Record<string, string> = {};
      const setHeader = (name: string, value: string) => {
        headers[name] = value;
      };
      const send = (status: number, body: unknown) => {
        answer = { status, body: JSON.stringify(body), headers: Object.keys(headers).length > 0 ? headers : undefined };
      };
      await work(contextOf(parts, valid, exchange, { claim, db: trx, jobs: later, send, setHeader }));
      if (!answer) throw new Error(`${valid.operationId} did not reply`);
      await storeAnswer(trx, claim, sealAnswer(parts.runtime.secrets, valid.operationId, claim, answer));
      return answer;
    });
  } catch (error) {
    // Another request has the key now: it gives the answer.
    if (error instanceof ClaimLost) throw inProgress();
    const failure = toApiError(error);
    await endClaim(db, claim, isFinal(failure) ? failure : undefined).catch(() => {
      // When the database is out of reach, the claim runs out by itself.
    });
    throw error;
  } finally {
    letGo();
    later.sendTo(parts.jobs);
  }
}

/** Ends a claim that came to no success: with an error that is kept, or so that a retry begins again. */
export async function endClaim(
  db: Kysely<DB>,
  claim: KeyClaim,
  kept: ApiError | KeptAnswer | undefined,
): Promise<void> {
  if (!kept) await releaseClaim(db, claim);
  else await storeAnswer(db, claim, kept instanceof ApiError ? keptError(kept) : kept);
}

/** Jobs that are queued when the transaction is over: before it, their work cannot be seen. */
class LaterJobs implements Jobs {
  readonly #sends: ((jobs: Jobs) => Promise<void>)[] = [];

  async send<Name extends JobName>(name: Name, data: JobData[Name]): Promise<void> {
    this.#sends.push((jobs) => jobs.send(name, data));
  }

  sendTo(jobs: Jobs): void {
    for (const send of this.#sends) void send(jobs);
  }
}
