import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { startTls, type TlsServer } from './mcp.ts';
import type { Certificate } from './tls.ts';

/** How to start a reference server that supports only stdio. */
export interface StdioServer {
  /** Its npm package. */
  package: string;
  args?: string[];
  env?: Record<string, string>;
}

/** A stdio server behind the bridge. */
export interface BridgedServer extends TlsServer {
  url: string;
  /** Running processes, one for each session. */
  processes(): number;
}

/**
 * Serves a stdio server over streamable HTTP and TLS on loopback. Each session has a process of its own, and messages are not
 * changed. For tests only: the service itself starts no servers for tenants.
 */
export async function bridgeStdio(
  certificate: Certificate,
  { package: name, args = [], env = {} }: StdioServer,
): Promise<BridgedServer> {
  const entry = createRequire(import.meta.url).resolve(`${name}/dist/index.js`);
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const running = new Set<StdioClientTransport>();

  async function begin(): Promise<StreamableHTTPServerTransport> {
    const child = new StdioClientTransport({
      command: process.execPath,
      args: [entry, ...args],
      env,
      stderr: 'ignore',
    });
    const front = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, front),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    front.onmessage = (message) => void child.send(message);
    child.onmessage = (message) => void front.send(message);
    front.onclose = () => void child.close();
    child.onclose = () => void running.delete(child);
    running.add(child);
    await child.start();
    await front.start();
    return front;
  }

  const listening = await startTls(certificate, async (req, res) => {
    const id = req.headers['mcp-session-id'];
    const front = typeof id === 'string' ? sessions.get(id) : await begin();
    if (!front) return res.writeHead(404).end('unknown session');
    await front.handleRequest(req, res);
    // Anything but `initialize` begins no session.
    if (front.sessionId === undefined) await front.close();
  });
  return {
    ...listening,
    url: `${listening.origin}/mcp`,
    processes: () => running.size,
    async close() {
      await Promise.all([...running].map((child) => child.close()));
      await listening.close();
    },
  };
}
