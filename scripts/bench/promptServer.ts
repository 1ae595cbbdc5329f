import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the model answers to one request. */
export interface PromptAnswer {
  text: string;
  calls: readonly { name: string; input: object }[];
}

/** A model server in this process that keeps what it was sent, in the formats of Anthropic and of OpenAI's chat completions. */
export interface PromptServer {
  url: string;
  /** The bodies of the requests since the last `begin`, as they came over the wire. */
  bodies: Record<string, unknown>[];
  /** Forgets the requests, and gives these answers one after the other. */
  begin(answers: readonly PromptAnswer[]): void;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startPromptServer(): Promise<PromptServer> {
  let left: PromptAnswer[] = [];
  let made = 0;
  const http = createServer(async (request, response) => {
    // The service also asks which models there are.
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    server.bodies.push(JSON.parse(await text(request)));
    const answer = left.shift() ?? { text: 'Done.', calls: [] };
    const calls = answer.calls.map((call) => {
      made += 1;
      return { ...call, id: `call_${made}` };
    });
    const body = request.url?.endsWith('/messages') ? anthropicBody(answer.text, calls) : chatBody(answer.text, calls);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: PromptServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    bodies: [],
    begin(answers) {
      server.bodies = [];
      left = [...answers];
    },
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return server;
}

type Call = { id: string; name: string; input: object };

function anthropicBody(said: string, calls: readonly Call[]) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [
      ...(said === '' ? [] : [{ type: 'text', text: said }]),
      ...calls.map((call) => ({ type: 'tool_use', ...call })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 4 },
  };
}

function chatBody(said: string, calls: readonly Call[]) {
  const made = calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'bench-model',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: said === '' ? null : said,
          ...(made.length > 0 ? { tool_calls: made } : {}),
        },
        finish_reason: made.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 },
  };
}
