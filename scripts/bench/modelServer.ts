import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOOL_NAME } from './richAgent.ts';

/** Slow enough that every token is sent in a packet of its own. */
const TOKEN_GAP_MS = 3;
const TOKENS = ['Hello', ' from', ' the', ' model.'];

/** The message on which the model calls the tool of the rich agent. */
export const CALL_PLEASE = 'Please look up order 4711.';
/** The text by which a client recognises the first token. */
export const FIRST_TOKEN = 'Hello';

/** An OpenAI-compatible server in this process. It shows the last request, and when the first token was written. */
export interface TimedModelServer {
  url: string;
  /** Path, headers and body of the last request. */
  last: { path: string; headers: Record<string, string>; body: string };
  /** Called for each request. */
  onRequest: () => void;
  /** Milliseconds before a response begins. */
  delayMs: number;
  /** Number of requests in progress. */
  running: number;
  /** Milliseconds between the tokens of a stream, and their number. */
  pace: { gapMs: number; tokens: number };
  /** When the last stream's first token was written, by `performance.now()`. */
  firstTokenAt: number;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A message that asks for an order gets one call of the tool; every other message gets the same answer. */
function messageFor(body: string) {
  if (!body.includes(CALL_PLEASE) || body.includes('"role":"tool"'))
    return { role: 'assistant', content: TOKENS.join('') };
  const call = { name: TOOL_NAME, arguments: '{"order":"4711"}' };
  return { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] };
}

/** Starts it on a free port. It answers chat completions, whole and streamed, in OpenAI's wire format. */
export async function startTimedModelServer(): Promise<TimedModelServer> {
  const usage = { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 };
  const common = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'bench-model' };
  const chunk = (choices: unknown[], more: object = {}) =>
    `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const delta = (value: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: value, finish_reason: finish }]);

  async function stream(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(delta({ role: 'assistant', content: '' }));
    for (let index = 0; index < server.pace.tokens && !response.destroyed; index += 1) {
      await sleep(server.pace.gapMs);
      const text = delta({ content: TOKENS[index % TOKENS.length] });
      if (index === 0) server.firstTokenAt = performance.now();
      response.write(text);
    }
    response.end(`${delta({}, 'stop')}${chunk([], { usage })}data: [DONE]\n\n`);
  }

  const http = createServer((request, response) => {
    server.running += 1;
    response.once('close', () => {
      server.running -= 1;
    });
    void bodyOf(request).then(async (body) => {
      server.last = { path: request.url ?? '', headers: request.headers as Record<string, string>, body };
      server.onRequest();
      if (server.delayMs > 0) await sleep(server.delayMs);
      if (body.includes('"stream":true')) return stream(response);
      const message = messageFor(body);
      const finish = message.tool_calls ? 'tool_calls' : 'stop';
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          ...common,
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: finish }],
          usage,
        }),
      );
    });
  });
  http.keepAliveTimeout = 60_000;
  http.on('connection', (socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: TimedModelServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    last: { path: '', headers: {}, body: '' },
    onRequest: () => {},
    delayMs: 0,
    running: 0,
    pace: { gapMs: TOKEN_GAP_MS, tokens: TOKENS.length },
    firstTokenAt: 0,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return server;
}
