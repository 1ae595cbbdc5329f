import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { freePort } from '../freePort.ts';
import { type Certificate, trustedCertificate } from './tls.ts';

/** A request that a server received. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

/** A server behind TLS on loopback. */
export interface TlsServer {
  /** `https://127.0.0.1:port` */
  origin: string;
  port: number;
  seen: SeenRequest[];
  /** Connections that are open now. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a server on a free port of loopback; `answer` does the rest. */
export async function startTls(
  certificate: Certificate,
  answer: (req: IncomingMessage, res: ServerResponse) => unknown,
): Promise<TlsServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Duplex>();
  const server = https.createServer({ key: certificate.key, cert: certificate.cert }, async (req, res) => {
    seen.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers });
    try {
      await answer(req, res);
    } catch (error) {
      // An error in a test's own server must be visible.
      res.writeHead(500).end(String(error));
    }
  });
  // Neither end closes a connection because nothing comes: who waits until none is open sees that it was closed.
  server.keepAliveTimeout = 600_000;
  server.on('connection', (socket: Duplex) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://127.0.0.1:${port}`,
    port,
    seen,
    connections: () => sockets.size,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The body of a request as JSON. */
export async function readJson(req: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || 'null');
}

/** Settings of a test server. All of them may be changed while it runs. */
export interface McpSettings {
  kind: 'streamable' | 'sse';
  /** Tools by name, with their description. Each takes `{text}` and returns `name: text`; `fail` reports an error. */
  tools: Record<string, string | undefined>;
  instructions?: string;
  title?: string;
  /** Whether a request is allowed; if not, the response is 401. */
  authorize(headers: IncomingHttpHeaders): boolean;
}

/** An MCP server made with the SDK, behind TLS on loopback. */
export interface TestMcpServer extends TlsServer {
  url: string;
  settings: McpSettings;
  /** Sessions that are open. */
  sessions: Map<string, StreamableHTTPServerTransport | SSEServerTransport>;
  /** Number of sessions that were ever opened. */
  begun: number;
}

function makeServer({ tools, instructions, title }: McpSettings): McpServer {
  const server = new McpServer(
    { name: 'test', version: '1.0.0', ...(title === undefined ? {} : { title }) },
    { capabilities: { tools: {} }, ...(instructions === undefined ? {} : { instructions }) },
  );
  for (const [name, description] of Object.entries(tools)) {
    const config = { inputSchema: { text: z.string() }, ...(description === undefined ? {} : { description }) };
    server.registerTool(name, config, ({ text }) => {
      if (name === 'fail') throw new Error(`cannot do ${text}`);
      return { content: [{ type: 'text', text: `${name}: ${text}` }] };
    });
  }
  return server;
}

/** Starts an MCP server. By default it uses streamable HTTP, needs no credential and has the tool `echo`. */
export async function startMcpServer(
  certificate: Certificate,
  settings: Partial<McpSettings> = {},
): Promise<TestMcpServer> {
  const chosen: McpSettings = {
    kind: 'streamable',
    tools: { echo: 'Says it again' },
    authorize: () => true,
    ...settings,
  };
  const sessions: TestMcpServer['sessions'] = new Map();

  async function streamable(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const id = req.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) return void res.writeHead(404).end('unknown session');
    if (known) return (known as StreamableHTTPServerTransport).handleRequest(req, res);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport);
        server.begun += 1;
      },
      onsessionclosed: (sessionId) => void sessions.delete(sessionId),
    });
    await makeServer(chosen).connect(transport as Parameters<McpServer['connect']>[0]);
    await transport.handleRequest(req, res);
  }

  async function sse(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'https://x');
    if (req.method === 'GET' && pathname === '/mcp') {
      const transport = new SSEServerTransport('/messages', res);
      sessions.set(transport.sessionId, transport);
      server.begun += 1;
      res.on('close', () => sessions.delete(transport.sessionId));
      return makeServer(chosen).connect(transport);
    }
    const known = sessions.get(searchParams.get('sessionId') ?? '');
    if (pathname !== '/messages' || !known) return void res.writeHead(404).end('Cannot POST');
    return (known as SSEServerTransport).handlePostMessage(req, res);
  }

  const listening = await startTls(certificate, (req, res) => {
    if (!chosen.authorize(req.headers)) return res.writeHead(401).end(`no entry: ${JSON.stringify(req.headers)}`);
    return chosen.kind === 'sse' ? sse(req, res) : streamable(req, res);
  });
  const server: TestMcpServer = {
    ...listening,
    url: `${listening.origin}/mcp`,
    settings: chosen,
    sessions,
    begun: 0,
  };
  return server;
}

/** The official reference server `@modelcontextprotocol/server-everything` in a process of its own, behind TLS on loopback. */
export async function startEverything(
  certificate: Certificate,
  mode: 'streamableHttp' | 'sse',
): Promise<TlsServer & { url: string }> {
  const port = await freePort();
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const child: ChildProcess = spawn(process.execPath, [entry, mode], {
    env: { ...process.env, PORT: String(port), NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk) => {
      said += chunk;
      if (/(listening|running) on port/.test(said)) resolve();
    });
    child.once('exit', () => reject(new Error(`server-everything ended: ${said}`)));
  });
  const front = await startTls(certificate, (req, res) => {
    const { method, url: path, headers } = req;
    const onward = http.request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  return {
    ...front,
    url: `${front.origin}/${mode === 'sse' ? 'sse' : 'mcp'}`,
    async close() {
      await front.close();
      child.kill('SIGKILL');
    },
  };
}

/** A certificate that is trusted during the tests of a file. */
export function useCertificate(): Certificate {
  const certificate: Certificate = { key: '', cert: '' };
  let forget: () => void = () => undefined;
  beforeAll(async () => {
    const made = await trustedCertificate();
    Object.assign(certificate, { key: made.key, cert: made.cert });
    forget = made.forget;
  });
  afterAll(() => forget());
  return certificate;
}
