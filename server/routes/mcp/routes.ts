import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { ApiError, fault } from '../../../core/errors.ts';
import { boundPassed } from '../../../core/jsonBounds.ts';
import { ownTurn } from '../../../core/ownTurn.ts';
import { type Authenticator, apiKeyOf, type Principal } from '../../api/auth.ts';
import { toApiError } from '../../api/errors.ts';
import { identify } from '../../api/identify.ts';
import type { RateLimiter } from '../../api/rateLimit.ts';
import type { RequestTurns } from '../../api/requestTurns.ts';
import { sendJson } from '../../api/sendJson.ts';
import { readTimelyBody } from '../../api/timelyBody.ts';
import type { UnreadAnswers } from '../../api/unread.ts';
import type { Telemetry } from '../../telemetry.ts';
import { Messages } from './messages.ts';
import { senderFault } from './sender.ts';
import { sendWebResponse } from './webResponse.ts';

/** Everything that `/mcp` needs; AppParts has it. */
export interface McpRouteParts {
  runtime: { publicUrl: string };
  authenticator: Authenticator;
  /** Counts requests to `/mcp` apart from those of the API, which the calls behind them are. */
  mcpLimiter: RateLimiter;
  requestTurns: RequestTurns;
  unread: UnreadAnswers;
  telemetry: Telemetry;
  logger: Logger;
  serving(): boolean;
  /** What answers; for tests. */
  loadServers?(): Promise<McpServers>;
  /** Milliseconds in which a body must arrive; for tests. */
  bodyMs?: number;
  /** Milliseconds that a whole request may take; for tests. */
  wholeMs?: number;
}

/** The servers of clients/mcp. */
export type McpServers = Pick<
  typeof import('../../../clients/mcp/http.ts'),
  'serveAgent' | 'serveWorkspace' | 'HttpRefusal'
>;

/** Loaded with the first request: nothing else of the service needs them. */
const loadOurs = (): Promise<McpServers> => import('../../../clients/mcp/http.ts');

/** Bytes of a request: a file of 6 MiB in base64 and what is said about it. */
const MAX_BODY_BYTES = 9 * 1024 * 1024;
const BODY_MS = 30_000;
/** A body that takes some milliseconds to parse. */
const LARGE_BODY = 65_536;
/** The API's own bounds, and the envelope of the protocol around them. */
const BOUNDS = { values: 60_000, depth: 110 };
/** The longest call of the API takes 330 seconds. */
const WHOLE_MS = 360_000;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

const AGENT_PATH = /^\/agents\/([^/]+)\/?$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request that is refused before the protocol sees it, with the code that its error has there. */
class Refusal extends Error {
  readonly status: number;
  readonly rpcCode: number;

  constructor(status: number, message: string, rpcCode = SERVER_ERROR) {
    super(message);
    this.status = status;
    this.rpcCode = rpcCode;
  }
}

/**
 * The MCP server of a workspace at `/mcp`, and that of each published agent at `/mcp/agents/{id}`: streamable HTTP without sessions. What
 * tools do goes through the API, over HTTP and with the key of the request, so that its limits and turns hold. Every refusal is an error
 * of JSON-RPC.
 */
export function mcpRoutes(parts: McpRouteParts): RequestHandler {
  const { telemetry, loadServers = loadOurs, bodyMs = BODY_MS, wholeMs = WHOLE_MS } = parts;
  const messages = new Messages();

  async function serve(request: Request, response: Response, seen: Seen): Promise<void> {
    const [path = '', search = ''] = splitOnce(request.url);
    const agentId = AGENT_PATH.exec(path)?.[1];
    if (agentId === undefined && path !== '/' && path !== '') throw fault('NOT_FOUND');
    seen.name = agentId === undefined ? 'mcp' : 'mcpAgent';
    if (!parts.serving()) throw fault('UNAVAILABLE');
    const wrong = senderFault(request.headers, parts.runtime.publicUrl);
    if (wrong !== undefined) throw new Refusal(403, wrong);
    // Without sessions there is nothing to listen to (GET) or to end (DELETE).
    if (request.method !== 'POST')
      throw fault('METHOD_NOT_ALLOWED', 'Send messages with POST.', { headers: { Allow: 'POST' } });
    const principal = await parts.authenticator.authenticate(request.headers);
    seen.principal = principal;
    await parts.mcpLimiter.take(principal.apiKeyId, request, response);
    const length = request.headers['content-length'];
    const place = messages.enter(principal.workspaceId, length === undefined ? undefined : Number(length));
    const over = new AbortController();
    response.once('close', () => over.abort());
    const late = setTimeout(() => {
      seen.late = true;
      over.abort();
    }, wholeMs);
    try {
      const bytes = await readTimelyBody(request, response, { limit: MAX_BODY_BYTES, ms: bodyMs });
      seen.begun = true;
      await parts.requestTurns.take(principal.workspaceId);
      const body = await parse(bytes);
      place.hold(body);
      const { serveAgent, serveWorkspace, HttpRefusal } = await loadServers();
      const exchange = {
        signal: over.signal,
        headers: webHeaders(request),
        body,
        query: new URLSearchParams(search),
        apiKey: apiKeyOf(request.headers) ?? '',
        origin: ownOrigin(request.socket),
        requestId: seen.requestId,
      };
      const web = await (agentId === undefined ? serveWorkspace(exchange) : serveAgent(exchange, agentId)).catch(
        (error) => {
          if (!(error instanceof HttpRefusal)) throw error;
          for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
          throw new Refusal(error.status, error.message);
        },
      );
      if (seen.late && !response.headersSent) throw new Refusal(504, 'The request took too long.');
      await sendWebResponse(response, web, { isStopped: () => seen.late });
    } catch (error) {
      if (seen.late) throw new Refusal(504, 'The request took too long.');
      throw error;
    } finally {
      clearTimeout(late);
      place.leave();
    }
  }

  return async (request, response) => {
    const startedAt = performance.now();
    const seen: Seen = { requestId: identify(request, response), begun: false, late: false };
    let failure: ApiError | undefined;
    telemetry.started();
    response.once('close', () => {
      telemetry.finished({
        requestId: seen.requestId,
        method: request.method,
        operationId: seen.name ?? 'unmatched',
        workspaceId: seen.principal?.workspaceId,
        status: response.headersSent ? response.statusCode : 499,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        error: failure,
      });
    });
    try {
      await serve(request, response, seen);
    } catch (error) {
      // Who sends again at once after each refusal must not keep others waiting either.
      if (!seen.begun) await parts.requestTurns.take(seen.principal?.workspaceId ?? '');
      if (error instanceof Refusal) refuse(response, error, seen.requestId);
      else if (!response.destroyed) {
        failure = toApiError(error);
        for (const [name, value] of Object.entries(failure.headers)) response.setHeader(name, value);
        refuse(response, failure, seen.requestId);
      }
    } finally {
      parts.unread.watch(response, seen.principal?.workspaceId ?? '');
    }
  };
}

/** What is known of a request by now. */
interface Seen {
  requestId: string;
  name?: string;
  principal?: Principal;
  /** Whether it has had its turn. */
  begun: boolean;
  /** Whether its time is over. */
  late: boolean;
}

/** Parses a message. Throws Refusal for what is no JSON, too deep or too large to be checked in a moment. */
async function parse(bytes: Buffer): Promise<unknown> {
  const passed = boundPassed(bytes, BOUNDS);
  if (passed === 'depth')
    throw new Refusal(400, `A message must not nest deeper than ${BOUNDS.depth} levels.`, INVALID_REQUEST);
  if (passed === 'values')
    throw new Refusal(400, `A message must not have more than ${BOUNDS.values} values.`, INVALID_REQUEST);
  if (bytes.length > LARGE_BODY) await ownTurn();
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw new Refusal(400, `Parse error: ${Error.isError(error) ? error.message : 'no JSON'}`, PARSE_ERROR);
  } finally {
    if (bytes.length > LARGE_BODY) await ownTurn();
  }
}

/** The address at which this very request came in, as the service can call it. Headers have no say in it. */
function ownOrigin({ localAddress = '127.0.0.1', localPort }: Socket): string {
  const address = localAddress.replace(/^::ffff:/, '');
  // An address of a link has a zone, which no URL can say; such a service listens on all addresses.
  if (address.includes('%')) return `http://[::1]:${localPort}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}

/** The headers that the protocol reads. */
function webHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(headersDistinct)) {
    const isRead = name.startsWith('mcp-') || name === 'accept' || name === 'content-type';
    if (isRead) for (const each of value ?? []) headers.append(name, each);
  }
  return headers;
}

function refuse(response: ServerResponse, error: Refusal | ApiError, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error.status === 503 && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '5');
  const isApi = error instanceof ApiError;
  const code = isApi ? SERVER_ERROR : error.rpcCode;
  const data = { ...(isApi ? { code: error.code } : {}), status: error.status, requestId };
  sendJson(response, error.status, { jsonrpc: '2.0', id: null, error: { code, message: error.message, data } });
}

function splitOnce(url: string): [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}
