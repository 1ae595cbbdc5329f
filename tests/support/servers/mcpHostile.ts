import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson, startTls, type TlsServer } from './mcp.ts';
import type { Certificate } from './tls.ts';

/** A request of the client, and how to answer it. */
export interface Asked {
  req: IncomingMessage;
  res: ServerResponse;
  method: string;
  params: Record<string, unknown>;
  /** Answers as MCP does, in JSON. */
  result(value: unknown): void;
  /** Begins an event stream; `say` sends one message. */
  stream(): { say(message: object): void };
}

/** Answers one JSON-RPC request; what it leaves alone, `false`, is answered as a well-behaved server would. */
export type Answer = (asked: Asked) => unknown;

/** A server whose `answer` writes raw MCP, so that it can break every rule. It gives out the session `s-1`. */
export function startRawMcp(certificate: Certificate, answer: Answer): Promise<TlsServer> {
  return startTls(certificate, async (req, res) => {
    const message = req.method === 'POST' ? await readJson(req) : {};
    const { id } = message;
    const asked: Asked = {
      req,
      res,
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
    if ((await answer(asked)) !== false) return;
    if (asked.method === 'initialize') asked.result(INITIALIZED);
    else if (asked.method === 'notifications/initialized') res.writeHead(202).end();
    else if (asked.method === 'tools/list') asked.result({ tools: [tool('echo')] });
    else res.writeHead(asked.method === 'DELETE' ? 200 : 405).end();
  });
}

/** What `initialize` answers. */
export const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1.0.0' },
};

/** A tool as a server lists it. */
export function tool(name: string, fields: object = {}): object {
  return { name, inputSchema: { type: 'object' }, ...fields };
}
