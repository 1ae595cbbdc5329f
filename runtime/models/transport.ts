import type { Agent } from 'undici';
import { OversizedAnswer } from './answerLimit.ts';

/** As `fetch`; `maxBytes` is the limit of this answer in place of the usual one. */
export type ModelFetch = (
  input: Parameters<typeof globalThis.fetch>[0],
  init?: RequestInit,
  maxBytes?: number,
) => Promise<Response>;

/**
 * `fetch` for the model providers, POST or GET, over connections that stay open. It lacks what a provider call does not
 * need (redirects, cookies, caches, compression), which makes a call several times cheaper. A redirect is returned as it is. A
 * connection without data is closed after ten minutes; an abort signal closes it sooner. A response with more than `maxBytes` is not
 * read to its end: it rejects with OversizedAnswer, and so does a stream with an event that is far larger. What a stream has
 * in all is for its reader to count.
 */
export function modelFetch(usualMaxBytes = MAX_RESPONSE_BYTES): ModelFetch {
  let loading: Promise<Agent> | undefined;
  return async (input, init, maxBytes = usualMaxBytes) => {
    // Loaded by the first call, because the client takes 14 MB.
    loading ??= loadAgent();
    const agent = await loading;
    const url = new URL(input instanceof Request ? input.url : input);
    const isGet = init?.method === 'GET';
    const { body, headers: form } = isGet ? { body: null, headers: {} } : await bodyOf(init?.body);
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: isGet ? 'GET' : 'POST',
      headers: { ...plainHeaders(init?.headers), ...form },
      body,
      signal: init?.signal ?? null,
    });
    const headers: [string, string][] = [];
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers.push([name, typeof value === 'string' ? value : value.join(', ')]);
    }
    // Some compatible servers do not declare event streams. Only JSON and errors are certain not to be streams.
    const whole = isGet || answer.statusCode !== 200 || String(answer.headers['content-type']).includes('json');
    const content = whole
      ? await wholeText(answer.body, maxBytes, answer.statusCode === 200)
      : webStream(answer.body, EVENT_SHARE * maxBytes + EVENT_SPARE_BYTES);
    const status = typeof content === 'string' ? statusOf(content, answer.statusCode) : answer.statusCode;
    return new Response(content === '' ? null : content, { status, headers });
  };
}

const ERROR_BODY = /^\s*\{\s*(?:"error"\s*:\s*["{]|"object"\s*:\s*"error")/;
const MAX_ERROR_CHARS = 100_000;

/**
 * The status of a whole answer. Some servers send an error with 200, also in place of a stream (llama.cpp, TGI, OpenRouter): then its own
 * code, if it is one, or else 400. The packages would call it an answer that cannot be understood.
 */
function statusOf(text: string, status: number): number {
  if (status !== 200 || text.length > MAX_ERROR_CHARS || !ERROR_BODY.test(text)) return status;
  try {
    const { error, code = error?.code } = JSON.parse(text) as { error?: { code?: unknown }; code?: unknown };
    return typeof code === 'number' && code >= 400 && code <= 599 ? Math.floor(code) : 400;
  } catch {
    return status;
  }
}

const IDLE_TIMEOUT_MS = 600_000;
/** Of speech, which is much larger than texts. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
/** The last event of some streams repeats the whole answer, as JSON. */
const EVENT_SHARE = 2;
const EVENT_SPARE_BYTES = 1024 * 1024;

async function loadAgent(): Promise<Agent> {
  const undici = await import('undici');
  return new undici.Agent({
    connect: { timeout: 10_000 },
    keepAliveTimeout: 60_000,
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
  });
}

/** Returns a JSON body unchanged, and a form, which has audio, as bytes: undici only accepts forms of its own class. */
async function bodyOf(
  body: RequestInit['body'],
): Promise<{ body: string | Uint8Array; headers?: Record<string, string> }> {
  if (typeof body === 'string') return { body };
  if (!(body instanceof FormData)) throw new TypeError('Model calls have a JSON text or a form as their body.');
  const encoded = new Response(body);
  return { body: await encoded.bytes(), headers: { 'content-type': encoded.headers.get('content-type') ?? '' } };
}

function plainHeaders(headers: RequestInit['headers']): Record<string, string> {
  if (headers === undefined) return {};
  if (headers instanceof Headers || Array.isArray(headers)) return Object.fromEntries(headers);
  return headers as Record<string, string>;
}

type Body = AsyncIterable<Uint8Array> & { destroy(): void };

/** The text of a body. Throws OversizedAnswer with what came; the text of an error is cut instead. */
async function wholeText(body: Body, maxBytes: number, isAnswer: boolean): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  const text = Buffer.concat(chunks).toString('utf8', 0, Math.min(bytes, maxBytes));
  if (bytes > maxBytes && isAnswer) throw new OversizedAnswer(text.replace(/\uFFFD+$/, ''));
  return text;
}

const BLANK_LINES = ['\n\n', '\n\r\n', '\r\r'];

/** Counts the bytes since the last blank line, which ends an event. */
class EventMeter {
  bytes = 0;
  #tail = Buffer.alloc(0);

  take(chunk: Uint8Array): void {
    const joined = Buffer.concat([this.#tail, chunk]);
    const ends = BLANK_LINES.map((blank) => joined.lastIndexOf(blank) + blank.length).filter(
      (end, index) => end >= (BLANK_LINES[index]?.length ?? 0),
    );
    const end = Math.max(0, ...ends);
    this.bytes = end > 0 ? joined.length - end : this.bytes + chunk.length;
    this.#tail = joined.subarray(-2);
  }
}

/**
 * Wraps the socket's chunks in a byte stream. Cancelling it closes the connection, so that the provider stops generating. The stream
 * fails with OversizedAnswer when an event has more than `maxEventBytes`.
 */
function webStream(body: Body, maxEventBytes: number): ReadableStream<Uint8Array> {
  const event = new EventMeter();
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) {
          controller.close();
          return;
        }
        event.take(next.value);
        if (event.bytes > maxEventBytes) {
          body.destroy();
          throw new OversizedAnswer('');
        }
        controller.enqueue(next.value);
      },
      cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
