import type { Response } from 'express';
import type { Kysely } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import type { ApiError } from '../../core/errors.ts';
import type { KeyClaim } from '../../db/queries/workspaces/idempotencyKeys.ts';
import type { DB } from '../../generated/db.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Context, EventStream, SentReply } from '../../handlers/handler.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Principal } from './auth.ts';
import type { Contract } from './contract/contract.ts';
import type { ValidRequest } from './contract/dispatcher.ts';
import type { DocumentedOperation } from './contract/document.ts';
import { openEventStream } from './eventStream.ts';
import { sendJson } from './sendJson.ts';

/** The parts of the service that handlers use, the same for every request. */
export interface HandlerParts {
  contract: Contract;
  forWorkspace(workspaceId: string): Kysely<DB>;
  runtime: Runtime;
  jobs: Jobs;
  clock: Clock;
  /** Checks every answer against the document: always in tests, by configuration elsewhere. */
  validateResponses: boolean;
}

/** One request whose operation and owner are known. */
export interface Exchange {
  principal: Principal;
  requestId: string;
  response: Response;
  operation: DocumentedOperation;
  /** Method and path, as the request has them. */
  target: string;
  /** The request's `Idempotency-Key`, when its operation takes one. */
  idempotencyKey: string | undefined;
  /** Makes a thrown value the contract's error, and notes it as the outcome of the request. */
  failed(error: unknown): ApiError;
}

/** What a context has in place of its usual parts, when the request has an Idempotency-Key. */
export interface KeyedParts {
  claim?: KeyClaim;
  db?: Kysely<DB>;
  jobs?: Jobs;
  /** Takes the answer. */
  send?(status: number, body: unknown): void;
  /** Takes a header of the answer. */
  setHeader?(name: string, value: string): void;
  /** Takes the stream. */
  openEventStream?(): EventStream<OperationId>;
}

/** Makes the context of a handler from a valid request, with the two ways to respond. */
export function contextOf(
  parts: HandlerParts,
  valid: ValidRequest,
  exchange: Exchange,
  keyed: KeyedParts = {},
): Context<OperationId> {
  const { principal, requestId, response, operation, failed } = exchange;
  const context = {
    ...valid,
    claim: keyed.claim,
    db: keyed.db ?? parts.forWorkspace(principal.workspaceId),
    workspaceId: principal.workspaceId,
    apiKeyId: principal.apiKeyId,
    requestId,
    clock: parts.clock,
    runtime: parts.runtime,
    jobs: keyed.jobs ?? parts.jobs,
    reply(status: number, body?: unknown): SentReply<OperationId> {
      const wrong = parts.validateResponses ? parts.contract.checkResponse(operation, status, asJson(body)) : undefined;
      if (wrong) throw new Error(`The answer of ${valid.operationId} breaks the contract: ${wrong}`);
      if (keyed.send) keyed.send(status, body);
      else if (body === undefined) response.status(status).end();
      else sendJson(response, status, body);
      return undefined as never;
    },
    setHeader: keyed.setHeader ?? ((name: string, value: string) => void response.setHeader(name, value)),
    openEventStream() {
      if (keyed.openEventStream) return keyed.openEventStream();
      const stream = openEventStream(response);
      const send = (event: string, data: unknown) => {
        const wrong = parts.validateResponses
          ? parts.contract.checkEvent(operation, { event, data: asJson(data) })
          : undefined;
        if (wrong) throw new Error(`The event ${event} of ${valid.operationId} breaks the contract: ${wrong}`);
        stream.send(event, data);
      };
      return {
        send,
        end: () => stream.end() as never,
        fail(error: unknown) {
          const { code, message, status } = failed(error);
          send('error', { code, message, status, requestId });
          return stream.end() as never;
        },
      };
    },
  };
  // The contract has validated the request: which operation's types these are is known by its operationId alone.
  return context as unknown as Context<OperationId>;
}

/** The body as the client will read it: dates are text, undefined is left out. */
function asJson(body: unknown): unknown {
  return body === undefined ? null : JSON.parse(JSON.stringify(body));
}
