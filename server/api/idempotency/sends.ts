import { untilAborted } from '../../../core/deadline.ts';
import { type ApiError, fault, isFinal } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import {
  claimKey,
  type KeptAnswer,
  type KeyClaim,
  type KeyedRequest,
} from '../../../db/queries/workspaces/idempotencyKeys.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { EventStream, SendingWork, StreamEvent } from '../../../handlers/handler.ts';
import type { ValidRequest } from '../contract/dispatcher.ts';
import { toApiError } from '../errors.ts';
import { contextOf, type Exchange } from '../exchange.ts';
import { Attempt } from './attempt.ts';
import { keyedRequest } from './key.ts';
import { endClaim, errorOf, type OnceParts, sendKept } from './once.ts';
import type { ProgressReader } from './progress.ts';

/** A stream as it is kept. An error in it is one that a retry gets again. */
interface KeptStream {
  events: StreamEvent[];
  error?: Pick<ApiError, 'code' | 'message' | 'details'>;
}

/** What answers requests that send need. */
export interface SendingParts extends OnceParts {
  /** The requests with an Idempotency-Key that this process handles, by workspace and key. */
  attempts: Map<string, Attempt>;
  progress: ProgressReader;
}

type Keyed = Exchange & { idempotencyKey: string };

/**
 * Sends the message of a request with an Idempotency-Key once. Equal requests that come meanwhile get the same answer, and the same
 * stream as it comes; they hold no connection to the database. Throws what the handler throws, IDEMPOTENCY_KEY_REUSED, and
 * AGENT_TIMEOUT.
 */
export async function respondSendOnce(
  parts: SendingParts,
  valid: ValidRequest,
  handler: SendingWork<OperationId>,
  exchange: Keyed,
): Promise<void> {
  const request = await keyedRequest(exchange, exchange.idempotencyKey, valid);
  const id = `${request.workspaceId} ${request.keyHash.toString('base64')}`;
  let attempt = parts.attempts.get(id);
  if (attempt && !attempt.requestHash.equals(request.requestHash)) throw fault('IDEMPOTENCY_KEY_REUSED');
  if (!attempt) {
    attempt = new Attempt(request.requestHash, (mine) => lead(parts, valid, handler, exchange, request, mine));
    parts.attempts.set(id, attempt);
    const forget = () => void parts.attempts.delete(id);
    attempt.outcome.then(forget, forget);
  }
  await follow(parts, valid, exchange, attempt);
}

/** Sends what becomes of the attempt as the answer to a request. */
async function follow(parts: SendingParts, valid: ValidRequest, exchange: Exchange, attempt: Attempt): Promise<void> {
  const context = contextOf(parts, valid, exchange);
  let stream: EventStream<OperationId> | undefined;
  const unfollow = attempt.follow({
    opened: () => {
      stream ??= context.openEventStream();
    },
    event: (event) => stream?.send(...event),
  });
  try {
    const answer = await attempt.outcome;
    if (answer) sendKept(exchange, answer);
    else stream?.end();
  } catch (error) {
    if (!stream) throw error;
    stream.fail(error);
  } finally {
    unfollow();
  }
}

/** Handles the request, or waits for another process that does. */
async function lead(
  parts: SendingParts,
  valid: ValidRequest,
  handler: SendingWork<OperationId>,
  exchange: Exchange,
  request: KeyedRequest,
  attempt: Attempt,
): Promise<KeptAnswer | undefined> {
  const db = parts.forWorkspace(request.workspaceId);
  const patienceMs = handler.patienceMs(contextOf(parts, valid, exchange));
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const seconds = Math.round(patienceMs / 1000);
    controller.abort(fault('AGENT_TIMEOUT', `The agent did not finish within ${seconds} s.`));
  }, patienceMs);
  try {
    for (;;) {
      const found = await claimKey(db, request, { claimId: newId(), now: parts.clock.now() });
      switch (found.state) {
        case 'reused':
          throw fault('IDEMPOTENCY_KEY_REUSED');
        case 'answered':
          return replayed(found.answer, attempt);
        case 'claimed':
          clearTimeout(timer);
          return await attemptSend(parts, valid, handler, exchange, attempt, found.claim);
        case 'running':
          // A process that stops ends those who wait, as it ends turns.
          await parts.runtime.turns.run(controller, () =>
            othersEnd({ progress: parts.progress, request, handler, attempt, signal: controller.signal }),
          );
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A kept answer. One that is a stream is sent to those who follow. */
function replayed(answer: KeptAnswer, attempt: Attempt): KeptAnswer | undefined {
  const { events, error } = JSON.parse(answer.body) as Partial<KeptStream>;
  if (!events) return answer;
  attempt.replay(events);
  if (error) throw errorOf({ status: 0, body: JSON.stringify(error) });
  return undefined;
}

interface Waiting {
  progress: ProgressReader;
  request: KeyedRequest;
  handler: SendingWork<OperationId>;
  attempt: Attempt;
  signal: AbortSignal;
}

/**
 * Waits until the process that handles the request has an answer, or has ended without one. Throws the error of its turn when that
 * failed: those who waited for a turn get what came of it.
 */
async function othersEnd({ progress: reader, request, handler, attempt, signal }: Waiting): Promise<void> {
  for (;;) {
    const progress = await untilAborted(reader.next(request), signal);
    if (progress?.released && progress.failure) throw fault(progress.failure.code, progress.failure.message);
    if (!progress?.running) return;
    const conversationId = progress.begun?.conversationId;
    if (!handler.beginning || conversationId === undefined) continue;
    attempt.open();
    attempt.send(handler.beginning(conversationId));
  }
}

/** Runs the handler with the claim. The answer is stored with the reply of the turn; an error is stored here if it is final. */
async function attemptSend(
  parts: SendingParts,
  valid: ValidRequest,
  handler: SendingWork<OperationId>,
  exchange: Exchange,
  attempt: Attempt,
  claim: KeyClaim,
): Promise<KeptAnswer | undefined> {
  const db = parts.forWorkspace(claim.workspaceId);
  const letGo = parts.claims.hold(claim);
  let answer: KeptAnswer | undefined;
  let failure: { error: unknown } | undefined;
  const stream = {
    send: (...event: StreamEvent) => attempt.send(event),
    end: () => undefined as never,
    fail: (error: unknown) => {
      failure = { error };
      return undefined as never;
    },
  };
  const context = contextOf(parts, valid, exchange, {
    claim,
    send: (status, body) => {
      answer = { status, body: JSON.stringify(body) };
    },
    openEventStream: () => {
      attempt.open();
      return stream;
    },
  });
  try {
    await handler.send(context);
    if (failure) throw failure.error;
    return answer;
  } catch (error) {
    const { code, message, details, status } = toApiError(error);
    const kept: KeptStream = { events: attempt.begun, error: { code, message, details } };
    // Of a stream that has begun, the error is a part.
    const inStream = failure && { status: 200, body: JSON.stringify(kept) };
    await endClaim(db, claim, isFinal({ status }) ? (inStream ?? toApiError(error)) : undefined).catch(() => {
      // When the database is out of reach, the claim runs out by itself.
    });
    throw error;
  } finally {
    letGo();
  }
}
