import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson, startTls, type TlsServer } from './mcp.ts';
import type { Certificate } from './tls.ts';

/** A request of the client, with ways to respond. */
export interface RawMcpCall {
  req: IncomingMessage;
  res: ServerResponse;
  id: unknown;
  method: string;
  params: Record<string, unknown>;
  /** Sends a valid result as JSON. */
  result(value: unknown): void;
  /** Begins an event stream; `say` sends one message. */
  stream(): { say(message: object): void };
}

/** Responds to one JSON-RPC request. When it returns `false`, the server responds as a correct one would. */
export type Answer = (call: RawMcpCall) => unknown;

/** A server whose `answer` writes raw MCP, so that it can break every rule. Its session is `s-1`. */
export function startRawMcp(certificate: Certificate, answer: Answer): Promise<TlsServer> {
  return startTls(certificate, async (req, res) => {
    const message = req.method === 'POST' ? await readJson(req) : {};
    const { id } = message;
    const call: RawMcpCall = {
      req,
      res,
      id,
      method: String(message.method ?? req.method),
      params: Object(message.params),
      result: (value) =>
        res
          .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's-1' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: value })),
      stream() {
        res.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's-1' }).flushHeaders();
        return { say: (each) => void res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`) };
      },
    };
    if ((await answer(call)) !== false) return;
    if (call.method === 'initialize') call.result(INITIALIZED);
    else if (call.method === 'notifications/initialized') res.writeHead(202).end();
    else if (call.method === 'tools/list') call.result({ tools: [tool('echo')] });
    else res.writeHead(call.method === 'DELETE' ? 200 : 405).end();
  });
}

/** The result of `initialize`. */
export const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1.0.0' },
};

/** A tool in the list of a server. */
export function tool(name: string, fields: object = {}): object {
  return { name, inputSchema: { type: 'object' }, ...fields };
}
