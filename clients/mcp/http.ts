import { createMcpHandler, type Server } from '@modelcontextprotocol/server';
import { API_PREFIX } from '../../generated/operations.ts';
import { type Guildhall, GuildhallError, guildhall } from '../sdk/index.ts';
import type { Access } from './access.ts';
import { AgentUnavailable, agentServer, findPublishedAgent } from './agentServer.ts';
import { readChoice } from './choice.ts';
import { ServiceDocument } from './document.ts';
import { mcpServer } from './server.ts';
import { type FilePolicy, type ToolSet, toolSet, UnknownChoice } from './tools/index.ts';
import { VERSION } from './version.ts';

/** A request over HTTP, as the service has read and checked it. */
export interface HttpExchange {
  /** Ends when the client has gone, or when the request has had its time. */
  signal: AbortSignal;
  headers: Headers;
  /** The parsed body: one message, or several. */
  body: unknown;
  /** The query of the address: which tools the client wants. */
  query: URLSearchParams;
  apiKey: string;
  /** Where the service itself is reached from here, without a slash at its end. */
  origin: string;
  requestId: string;
}

/** A refusal, in place of an answer of the protocol. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Longer than the API takes for anything: a message has 300 seconds. */
const CALL_MS = 330_000;
/** Methods whose answer says what the agent is. The others find out when they ask it. */
const ABOUT_AGENT = new Set(['initialize', 'server/discover', 'tools/list']);
/** Over HTTP no tool reads files of the machine: it is the service's. */
const NO_FOLDERS: FilePolicy = { folders: [] };

const documents = new ServiceDocument();

/** Answers a request to the workspace's server. Throws HttpRefusal for an unknown choice of tools. */
export async function serveWorkspace(exchange: HttpExchange): Promise<Response> {
  const access = accessOf(exchange);
  const parts = { access, tools: chosenTools(exchange.query), files: NO_FOLDERS, document: documents };
  return answerWith(exchange, () => mcpServer(parts));
}

function chosenTools(query: URLSearchParams): ToolSet {
  const choice = readChoice(query);
  if (typeof choice === 'string') throw new HttpRefusal(400, choice);
  try {
    return toolSet(choice);
  } catch (error) {
    throw error instanceof UnknownChoice ? new HttpRefusal(400, error.message) : error;
  }
}

/** Answers a request to the server of one agent. Throws HttpRefusal when there is no such agent, or it is not published. */
export async function serveAgent(exchange: HttpExchange, agentId: string): Promise<Response> {
  const access = accessOf(exchange);
  const messages: unknown[] = Array.isArray(exchange.body) ? exchange.body : [exchange.body];
  const asksWho = messages.some((each) => ABOUT_AGENT.has(String((each as { method?: unknown } | null)?.method)));
  const agent = asksWho ? await lookUp(access, agentId, exchange.signal) : undefined;
  return answerWith(exchange, () => agentServer({ access, agentId, agent }), 'sse');
}

async function lookUp(access: Access, agentId: string, signal: AbortSignal) {
  try {
    return await findPublishedAgent(access, agentId, signal);
  } catch (error) {
    if (error instanceof AgentUnavailable) throw new HttpRefusal(error.status, error.message);
    if (!(error instanceof GuildhallError)) throw error;
    const wait = error.retryAfterSeconds;
    throw new HttpRefusal(
      error.status,
      `${error.message} (${error.code})`,
      wait ? { 'Retry-After': String(wait) } : {},
    );
  }
}

/** Answers with a server for this request alone: nothing is shared between requests, so that any replica answers any of them. */
export function answerWith(
  { headers, signal, body }: HttpExchange,
  factory: () => Server,
  responseMode: 'auto' | 'sse' = 'auto',
): Promise<Response> {
  const { fetch } = createMcpHandler(factory, { responseMode });
  return fetch(new Request('http://service/mcp', { method: 'POST', headers, signal }), { parsedBody: body });
}

function accessOf({ apiKey, origin, requestId }: HttpExchange): Access {
  let api: Guildhall | undefined;
  return {
    origin: async () => origin,
    async api() {
      api ??= guildhall({
        apiKey,
        baseUrl: `${origin}${API_PREFIX}`,
        userAgent: `guildhall-mcp/${VERSION}`,
        headers: { 'X-Request-Id': requestId },
        // The client is told of a refusal at once: it knows better than the service whether it wants to wait.
        retries: 0,
        timeoutMs: CALL_MS,
      });
      return api;
    },
  };
}
