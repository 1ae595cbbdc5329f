import express, { type Express, type Request, type Response } from 'express';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { type ApiError, type ErrorCode, fault } from '../core/errors.ts';
import type { DB } from '../generated/db.ts';
import type { OperationId } from '../generated/operations.ts';
import type { Context, Handler, Handlers, Sent } from '../handlers/handler.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Authenticator, Principal } from './auth.ts';
import { checkStorable, readBody, readQuery } from './body.ts';
import type { Contract, DocumentedOperation, ValidRequest } from './contract.ts';
import { errorBody, sendError, toApiError } from './errors.ts';
import { openEventStream } from './eventStream.ts';
import { operationalRoutes } from './operational.ts';
import type { RateLimiter } from './rateLimit.ts';
import { requestIdOf } from './requestId.ts';
import type { Telemetry } from './telemetry.ts';

/** Where the API lives, as `servers` of the document says. */
export const API_PREFIX = '/public/api/v1';

/** Everything the HTTP server stands on; made by main.ts, or by a test. */
export interface AppParts {
  contract: Contract;
  handlers: Handlers;
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  forWorkspace(workspaceId: string): Kysely<DB>;
  runtime: Runtime;
  clock: Clock;
  logger: Logger;
  telemetry: Telemetry;
  /** Whether new work is taken; false while the server starts or drains. */
  ready(): boolean;
  /** Whether the database answers. */
  ping(): Promise<boolean>;
  /** Checks every answer against the document: always in tests, by configuration elsewhere. */
  validateResponses: boolean;
  /** Told of every answer; the tests count by it which documented statuses they have met. */
  observe?(operationId: OperationId, status: number, code: ErrorCode | undefined): void;
}

/** One request on its way through the contract. */
interface Exchange {
  principal: Principal;
  requestId: string;
  response: Response;
  operation: DocumentedOperation;
  /** Makes a thrown value the contract's error, and notes it as the outcome of the request. */
  failed(error: unknown): ApiError;
}

/** Builds the whole HTTP server. */
export function createApp(parts: AppParts): Express {
  const { contract, handlers, telemetry } = parts;

  async function run(valid: ValidRequest, exchange: Exchange): Promise<void> {
    const handler = handlers[valid.operationId] as Handler<OperationId> | undefined;
    if (!handler) throw fault('NOT_IMPLEMENTED');
    await handler(contextOf(valid, exchange) as unknown as Context<OperationId>);
  }

  function contextOf(valid: ValidRequest, { principal, requestId, response, operation, failed }: Exchange) {
    return {
      ...valid,
      db: parts.forWorkspace(principal.workspaceId),
      workspaceId: principal.workspaceId,
      apiKeyId: principal.apiKeyId,
      requestId,
      clock: parts.clock,
      runtime: parts.runtime,
      reply(status: number, body?: unknown): Sent<OperationId> {
        const wrong = parts.validateResponses ? contract.checkResponse(operation, status, asJson(body)) : undefined;
        if (wrong) throw new Error(`The answer of ${valid.operationId} breaks the contract: ${wrong}`);
        response.statusCode = status;
        if (body === undefined) response.end();
        else sendJson(response, body);
        return undefined as never;
      },
      openEventStream() {
        const stream = openEventStream(response);
        return {
          send: stream.send,
          end: () => stream.end() as never,
          fail(error: unknown) {
            const { code, message, status } = failed(error);
            stream.send('error', { code, message, status, requestId });
            return stream.end() as never;
          },
        };
      },
    };
  }

  async function serve(request: Request, response: Response): Promise<void> {
    const startedAt = performance.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    let operation: DocumentedOperation | undefined;
    let principal: Principal | undefined;
    let failure: ApiError | undefined;
    const failed = (error: unknown) => {
      failure = toApiError(error);
      return failure;
    };
    response.setHeader('X-Request-Id', requestId);
    telemetry.started();
    response.once('close', () => {
      telemetry.finished({
        requestId,
        method: request.method,
        operationId: operation?.operationId ?? 'unmatched',
        workspaceId: principal?.workspaceId,
        // As nginx has it: the client went away before there was an answer.
        status: response.headersSent ? response.statusCode : 499,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        error: failure,
      });
      if (operation && response.headersSent) parts.observe?.(operation.operationId, response.statusCode, failure?.code);
    });
    try {
      const [path = '', search = ''] = splitUrl(request.url);
      const match = contract.match(request.method, path);
      operation = match.operation;
      if (!parts.ready()) throw fault('UNAVAILABLE');
      principal = await parts.authenticator.authenticate(request.headers);
      await parts.rateLimiter.take(principal.apiKeyId, request, response);
      checkStorable(match.params, '/path');
      const query = readQuery(search);
      const body = operation.requestBody
        ? await readBody(request, Object.keys(operation.requestBody.content))
        : undefined;
      const exchange = { principal, requestId, response, operation, failed };
      await contract.handle({ match, query, headers: request.headers, body }, (valid) => run(valid, exchange));
    } catch (error) {
      let answer = failed(error);
      const wrong =
        operation && parts.validateResponses && answer.status !== 501
          ? contract.checkResponse(operation, answer.status, errorBody(answer, requestId))
          : undefined;
      if (wrong) answer = failed(new Error(`Undocumented error: ${wrong}`, { cause: error }));
      sendError(response, answer, requestId);
    }
  }

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.enable('case sensitive routing');
  app.use(API_PREFIX, serve);
  app.use(operationalRoutes({ ...parts, document: contract.document, registry: telemetry.registry }));
  app.use((request: Request, response: Response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    response.setHeader('X-Request-Id', requestId);
    sendError(response, fault('NOT_FOUND'), requestId);
  });
  return app;
}

/** As `response.json`, without its detours: the type is known, and nobody asks for an ETag. */
function sendJson(response: Response, body: unknown): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

function splitUrl(url: string): [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

/** A body as it will arrive: dates become text, undefined is left out. */
function asJson(body: unknown): unknown {
  return body === undefined ? null : JSON.parse(JSON.stringify(body));
}
