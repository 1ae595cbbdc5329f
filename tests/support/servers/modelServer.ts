// Long because the description of its small interface and the types of its steps stand with it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { countTokens } from '../../../runtime/models/tokens.ts';
import {
  type Answer,
  encoder,
  errorBody,
  errorEvent,
  type ScriptedToolCall,
  type Wire,
  wholeBody,
  wireOf,
} from './modelServerWire.ts';

/*
 * A model provider on a local port, in the real wire formats of OpenAI (responses and chat completions), Anthropic and
 * Google, streamed and whole. Which one a request gets follows from its path.
 *
 *   const server = await startModelServer();
 *   const settings = server.settings();                 // ModelSettings: every provider points here
 *   server.script({ reply: 'Hi.' }, { status: 429 });   // one step per request; then `server.fallback` answers
 *   ... call ...
 *   server.requests[0].body                             // what the provider was sent
 *   await server.close();
 *
 * Slow tokens: `const gate = gatedReply(); server.script({ reply: gate.chunks }); gate.push('Hel'); ... gate.end();`
 * Waiting without sleeping: `await server.received(2)`, `await server.requests[0].closed`.
 */

/** How the server answers one request. */
export type Step =
  | {
      /** The text, whole or in the deltas to stream; an async iterable is sent as it comes (see `gatedReply`). */
      reply: string | readonly string[] | AsyncIterable<string>;
      thinking?: string;
      /** The thoughts are not shown: only what has to be given back of them is sent. */
      withheld?: boolean;
      toolCalls?: readonly ScriptedToolCall[];
      /** Tokens. `output` includes `reasoning`, `input` includes `cached` and `written`. Default 11 and 4. */
      usage?: { input?: number; output?: number; cached?: number; written?: number; reasoning?: number };
      finish?: 'stop' | 'length';
      /**
       * What happens after the text of a streamed answer instead of its regular end: the socket is destroyed, the body
       * ends without a finish, nothing more comes, an error event, or a line that is no JSON.
       */
      ending?: 'cut' | 'eof' | 'silence' | 'error-event' | 'garbage';
    }
  /** A refusal. `body` as given, or the provider's JSON error with `message`. */
  | { status: number; message?: string; body?: string; headers?: Record<string, string> }
  /** The request is taken and never answered. */
  | { silence: true }
  /** The socket is destroyed before any answer. */
  | { hangUp: true }
  /** The answer repeats the last text that the user said. */
  | { echo: true };

/** One request as the provider saw it. */
export type RecordedRequest = {
  wire: Wire;
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  /** Parsed JSON. Its shape is the provider's, so tests look into it freely. */
  body: Record<string, unknown>;
  /** Resolves when the exchange is over: `true` when the client went away before the answer was complete. */
  closed: Promise<boolean>;
  /** The client's port: the same for requests over one connection. */
  port: number;
};

/** A running model server. */
export type ModelServer = {
  url: string;
  /** Settings in which every provider is configured and answered by this server; `retries` is 0 unless given. */
  settings(overrides?: Partial<ModelSettings>): ModelSettings;
  /** Adds steps; each request takes the next. */
  script(...steps: Step[]): void;
  /** Answers when no step is left. Starts as `{ reply: 'Hello from the model.' }`. */
  fallback: Step;
  /** Tokens that a request may have, by o200k. One with more is refused as vLLM does, and takes no step. Undefined: no limit. */
  window: number | undefined;
  requests: RecordedRequest[];
  /** Requests that were refused because of `window`; they are among `requests` too. */
  refused: RecordedRequest[];
  /** Resolves when `count` requests have arrived since the start or the last `reset`. */
  received(count: number): Promise<void>;
  /** Forgets requests and steps, and puts the first fallback back. */
  reset(): void;
  /** Ends every open connection: requests that still wait for a reply fail. */
  cut(): void;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
};

const FALLBACK: Step = { reply: ['Hello ', 'from ', 'the ', 'model.'] };

/** A reply whose deltas the test releases one by one. */
export function gatedReply(): { chunks: AsyncIterable<string>; push(delta: string): void; end(): void } {
  const queue: (string | undefined)[] = [];
  let wake: (() => void) | undefined;
  const put = (value: string | undefined) => {
    queue.push(value);
    wake?.();
  };
  async function* take(): AsyncGenerator<string> {
    for (;;) {
      while (queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const next = queue.shift();
      if (next === undefined) return;
      yield next;
    }
  }
  return { chunks: take(), push: (delta) => put(delta), end: () => put(undefined) };
}

async function readBody(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** A text without what the service put beside it. */
const withoutContext = (text: string): string => text.replace(/\s*<turn_context>.*$/s, '');

/** The last text of a user in any of the wire formats: the last string under `text` or `content` of the last message. */
function lastUserText(body: Record<string, unknown>): string {
  const list = body.messages ?? body.input ?? body.contents;
  const last: unknown = Array.isArray(list) ? list.findLast((m: { role?: string }) => m.role === 'user') : undefined;
  let found = '';
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) {
        if ((key === 'text' || key === 'content') && typeof inner === 'string') found = withoutContext(inner) || found;
        else walk(inner);
      }
    }
  };
  walk(last);
  return found;
}

type ReplyStep = Extract<Step, { reply: unknown }>;

function answerOf(step: ReplyStep, model: string): Answer {
  const { usage = {}, toolCalls = [] } = step;
  return {
    model,
    thinking: step.thinking ?? '',
    withheld: step.withheld ?? false,
    toolCalls,
    usage: {
      input: usage.input ?? 11,
      output: usage.output ?? 4,
      cached: usage.cached ?? 0,
      written: usage.written ?? 0,
      reasoning: usage.reasoning ?? 0,
    },
    finish: step.finish ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'),
  };
}

async function sendStream(res: ServerResponse, wire: Wire, step: ReplyStep, model: string): Promise<void> {
  const { open, text, close } = encoder(wire, answerOf(step, model));
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  res.write(open);
  const deltas = typeof step.reply === 'string' ? [step.reply] : step.reply;
  let whole = '';
  for await (const delta of deltas) {
    if (res.destroyed) return;
    whole += delta;
    res.write(text(delta));
  }
  switch (step.ending) {
    case 'silence':
      return;
    case 'eof':
      res.end();
      return;
    case 'cut':
      // Only after the deltas left the process: the client must have seen them before the connection breaks.
      res.write('\n', () => res.socket?.destroy());
      return;
    case 'error-event':
      res.end(errorEvent(wire, 'The model is overloaded.'));
      return;
    case 'garbage':
      res.end('data: {"oops": \n\n');
      return;
    default:
      res.end(close(whole));
  }
}

async function sendWhole(res: ServerResponse, wire: Wire, step: ReplyStep, model: string): Promise<void> {
  let whole = '';
  for await (const delta of typeof step.reply === 'string' ? [step.reply] : step.reply) whole += delta;
  if (step.ending === 'silence') return;
  if (step.ending === 'cut') {
    res.socket?.destroy();
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(step.ending === 'garbage' ? '{"oops": ' : JSON.stringify(wholeBody(wire, answerOf(step, model), whole)));
}

/**
 * Starts a model server on 127.0.0.1. `record: false` neither parses nor keeps requests and sends a fixed fallback from
 * memory: for load tests.
 */
export async function startModelServer(options: { record?: boolean; port?: number } = {}): Promise<ModelServer> {
  const record = options.record ?? true;
  const steps: Step[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const sockets = new Set<Socket>();
  const canned = new Map<string, Buffer>();

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const raw = await readBody(req);
    const path = (req.url ?? '').split('?')[0] ?? '';
    const wire = wireOf(path);
    if (wire === undefined) {
      res.writeHead(404).end();
      return;
    }
    const stream = wire === 'google' ? path.endsWith('streamGenerateContent') : raw.includes('"stream":true');
    if (!record) {
      await sendCanned(res, wire, stream);
      return;
    }
    const body = JSON.parse(raw) as Record<string, unknown>;
    const closed = new Promise<boolean>((resolve) => res.once('close', () => resolve(!res.writableFinished)));
    server.requests.push({
      wire,
      path: req.url ?? '',
      headers: req.headers,
      body,
      closed,
      port: req.socket.remotePort ?? 0,
    });
    for (const entry of waiting) if (server.requests.length >= entry.count) entry.resolve();
    const model = typeof body.model === 'string' ? body.model : (path.match(/models\/([^:]+)/)?.[1] ?? 'unknown');
    const tokens = server.window === undefined ? 0 : await countTokens(raw, Number.POSITIVE_INFINITY);
    if (server.window !== undefined && tokens > server.window) {
      server.refused.push(...server.requests.slice(-1));
      const message = `This model's maximum context length is ${server.window} tokens. However, your request has ${tokens} input tokens. Please reduce the length of the input messages.`;
      res.writeHead(400, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ error: { message, type: 'BadRequestError', param: null, code: 400 } }));
      return;
    }
    const step = steps.shift() ?? server.fallback;
    if ('silence' in step) return;
    if ('hangUp' in step) res.socket?.destroy();
    else if ('status' in step) {
      const json = step.body === undefined;
      res.writeHead(step.status, { 'content-type': json ? 'application/json' : 'text/html', ...step.headers });
      res.end(
        step.body ?? JSON.stringify(errorBody(wire, step.status, step.message ?? `Refused with ${step.status}.`)),
      );
    } else {
      const reply: ReplyStep = 'echo' in step ? { reply: lastUserText(body) } : step;
      await (stream ? sendStream : sendWhole)(res, wire, reply, model);
    }
  }

  async function sendCanned(res: ServerResponse, wire: Wire, stream: boolean): Promise<void> {
    const key = `${wire} ${stream}`;
    let body = canned.get(key);
    if (body === undefined) {
      const step = 'reply' in server.fallback ? server.fallback : (FALLBACK as ReplyStep);
      const deltas: string[] = [];
      for await (const delta of typeof step.reply === 'string' ? [step.reply] : step.reply) deltas.push(delta);
      const { open, text, close } = encoder(wire, answerOf(step, 'canned'));
      const whole = deltas.join('');
      body = Buffer.from(
        stream
          ? open + deltas.map((delta) => text(delta)).join('') + close(whole)
          : JSON.stringify(wholeBody(wire, answerOf(step, 'canned'), whole)),
      );
      canned.set(key, body);
    }
    const type = stream ? 'text/event-stream' : 'application/json';
    res.writeHead(200, { 'content-type': type, 'content-length': body.length });
    res.end(body);
  }

  const http = createServer((req, res) => {
    // A client that goes away while its request is read is an ordinary event here.
    answer(req, res).catch(() => res.destroy());
  });
  http.keepAliveTimeout = 60_000;
  http.on('connection', (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  const server: ModelServer = {
    url,
    settings: (overrides) => ({
      openai: { apiKey: 'sk-proj-test0123456789abcdef', baseUrl: `${url}/v1` },
      anthropic: { apiKey: 'sk-ant-test0123456789abcdef', baseUrl: `${url}/v1` },
      google: { apiKey: 'AIzaTest0123456789abcdefghijklmnop', baseUrl: `${url}/v1beta` },
      openaiCompatible: { baseUrl: `${url}/v1`, apiKey: 'compatible-secret-1', models: ['local-model'] },
      retries: 0,
      ...overrides,
    }),
    script: (...more) => {
      steps.push(...more);
    },
    fallback: FALLBACK,
    window: undefined,
    requests: [],
    refused: [],
    received: (count) =>
      new Promise((resolve) => {
        if (server.requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    reset: () => {
      steps.length = 0;
      server.requests.length = 0;
      server.refused.length = 0;
      server.window = undefined;
      server.fallback = FALLBACK;
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      const ended = new Promise<void>((resolve) => http.close(() => resolve()));
      server.cut();
      await ended;
    },
  };
  return server;
}
