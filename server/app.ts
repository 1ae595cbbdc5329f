import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { type ApiError, type ErrorCode, fault } from '../core/errors.ts';
import type { DB } from '../generated/db.ts';
import { API_PREFIX, type OperationId } from '../generated/operations.ts';
import type { Authenticator, Principal } from './api/auth.ts';
import { readQuery, readRequestBody } from './api/body.ts';
import type { DocumentedOperation } from './api/contract/document.ts';
import { errorBody, sendError, toApiError } from './api/errors.ts';
import { checkHead } from './api/headCheck.ts';
import { keyOf } from './api/idempotency/key.ts';
import { identify } from './api/identify.ts';
import type { RateLimiter } from './api/rateLimit.ts';
import type { RequestTurns } from './api/requestTurns.ts';
import { type ResponderParts, respond } from './api/respond.ts';
import { checkStorable } from './api/storable.ts';
import type { UnderWay } from './api/underWay.ts';
import type { UnreadAnswers } from './api/unread.ts';
import type { ChatLimits } from './routes/chat/limits.ts';
import { chatRoutes } from './routes/chat/routes.ts';
import type { ChatStreams } from './routes/chat/streams.ts';
import { docsPage } from './routes/docsPage.ts';
import { documentRoutes } from './routes/document/routes.ts';
import { publicFiles } from './routes/files.ts';
import type { AddressBook } from './routes/hooks/addressBook.ts';
import { everyHook } from './routes/hooks/everyHook.ts';
import { hookRoutes } from './routes/hooks/routes.ts';
import type { HubDirectory } from './routes/hub/directory.ts';
import type { HubLimits } from './routes/hub/limits.ts';
import { hubRoutes } from './routes/hub/routes.ts';
import { mcpRoutes } from './routes/mcp/routes.ts';
import { metricsRoute, operationalRoutes } from './routes/operational.ts';
import { tlsAsk } from './routes/tlsAsk.ts';
import type { Telemetry } from './telemetry.ts';

/** Everything that the HTTP server needs; made by service.ts. */
export interface AppParts extends ResponderParts {
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  /** Counts requests to `/mcp`: the calls of the API that they lead to are counted by `rateLimiter`. */
  mcpLimiter: RateLimiter;
  underWay: UnderWay;
  unread: UnreadAnswers;
  requestTurns: RequestTurns;
  addresses: AddressBook;
  system: Kysely<DB>;
  hubDirectory: HubDirectory;
  hubLimits: HubLimits;
  chatLimits: ChatLimits;
  chatStreams: ChatStreams;
  /** Proxies in front of the service, each of which adds the address that it was called from to `X-Forwarded-For`. */
  trustedProxies: number;
  logger: Logger;
  telemetry: Telemetry;
  /** The folder for the files of a request, while it is handled. */
  uploadDir: string;
  /** False in a process that does background work only: it has the operational paths and no API. */
  servesApi: boolean;
  /** Whether `/metrics` has a port of its own, and is not on this one. */
  hasMetricsPort?: boolean;
  /** Whether load balancers shall send requests here; false while the service starts and from the moment that it shall stop. */
  ready(): boolean;
  /** Whether requests are served; those that come while the service is on its way out, too. */
  serving(): boolean;
  /** Whether the database answers. */
  ping(): Promise<string | undefined>;
  /** Called for every response. The tests record with it which documented statuses they have met. */
  observe?(operationId: OperationId, status: number, code: ErrorCode | undefined): void;
}

/** Builds the whole HTTP server. */
export function createApp(parts: AppParts): Express {
  const { contract, telemetry } = parts;

  /** Serves an API request: match, authenticate, count, read, validate, handle. */
  async function serve(request: Request, response: Response): Promise<void> {
    const startedAt = performance.now();
    const requestId = identify(request, response);
    let operation: DocumentedOperation | undefined;
    let principal: Principal | undefined;
    let failure: ApiError | undefined;
    let leave = () => {};
    let begun = false;
    const turn = () => {
      begun = true;
      // Requests without a good key are one workspace's, as it were.
      return parts.requestTurns.take(principal?.workspaceId ?? '');
    };
    const failed = (error: unknown) => {
      failure = toApiError(error);
      return failure;
    };
    telemetry.started();
    if (parts.validateResponses) checkHead(response, contract, () => operation);
    response.once('close', () => {
      telemetry.finished({
        requestId,
        method: request.method,
        operationId: operation?.operationId ?? 'unmatched',
        workspaceId: principal?.workspaceId,
        // nginx's code for a client that closed the connection before there was a response.
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
      if (!parts.serving()) throw fault('UNAVAILABLE');
      principal = await parts.authenticator.authenticate(request.headers);
      await parts.rateLimiter.take(principal.apiKeyId, request, response);
      leave = parts.underWay.enter(principal, operation.operationId, response);
      checkStorable(match.params, '/path');
      const query = readQuery(search);
      const { workspaceId } = principal;
      const body = await readRequestBody(request, operation, { uploadDir: parts.uploadDir, turn, workspaceId });
      const { headers, method } = request;
      const target = `${method} ${path}`;
      const exchange = {
        principal,
        requestId,
        response,
        operation,
        target,
        idempotencyKey: keyOf(operation, headers),
        failed,
      };
      const unchecked = { match, query, headers, body: body.json, form: body.form };
      await contract
        .handle(unchecked, (valid, handler) => respond(parts, valid, handler, exchange))
        .finally(() => body.form?.discard());
    } catch (error) {
      const answer = failed(error);
      // Who sends again at once after each refusal must not keep others waiting either.
      if (!begun) await turn();
      const wrong = operation && undocumented(operation, answer, requestId);
      sendError(response, wrong ? failed(new Error(wrong, { cause: error })) : answer, requestId);
    } finally {
      leave();
      parts.unread.watch(response, principal?.workspaceId ?? '');
    }
  }

  /** Says how an error breaks the document, where responses are checked. */
  function undocumented(operation: DocumentedOperation, error: ApiError, requestId: string): string | undefined {
    if (!parts.validateResponses) return undefined;
    const wrong = contract.checkResponse(operation, error.status, errorBody(error, requestId));
    return wrong && `Undocumented error: ${wrong}`;
  }

  const app = plainExpress();
  app.set('trust proxy', parts.trustedProxies);
  if (parts.servesApi) {
    const hubs = hubRoutes(parts);
    app.use(hubs.byHost);
    app.use(API_PREFIX, serve);
    const chat = chatRoutes(parts);
    app.use('/hub/:hub/chat', chat);
    app.use('/hub', hubs.byPath);
    app.use('/hooks', hookRoutes(parts, everyHook));
    app.use('/mcp', mcpRoutes(parts));
    app.use('/chat', chat);
    app.use('/files', publicFiles(parts.runtime));
    app.use(tlsAsk(parts));
    app.use(documentRoutes(parts), docsPage());
  }
  app.use(operationalRoutes(parts));
  if (!parts.hasMetricsPort) app.use(metricsRoute(telemetry.registry));
  return withErrors(app, parts.logger);
}

/** Builds the server of a port that has `/metrics` only. */
export function createMetricsApp({ telemetry, logger }: Pick<AppParts, 'telemetry' | 'logger'>): Express {
  const app = plainExpress();
  app.use(metricsRoute(telemetry.registry));
  return withErrors(app, logger);
}

function plainExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.enable('case sensitive routing');
  return app;
}

/** Adds the answers to requests that no route takes, and to those that fail outside the API. */
function withErrors(app: Express, logger: Logger): Express {
  app.use((request: Request, response: Response) => {
    sendError(response, fault('NOT_FOUND'), identify(request, response));
  });
  // Express's own error handler would send a stack trace. Express recognises an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const requestId = identify(request, response);
    logger.error({ requestId, err: error }, 'request outside the API failed');
    sendError(response, toApiError(error), requestId);
  });
  return app;
}

function splitUrl(url: string): [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}
