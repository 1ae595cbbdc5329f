import type { Agent } from 'undici';

/**
 * `fetch` for the model providers, over connections that stay open. It lacks what a provider call does not
 * need (redirects, cookies, caches, compression), which makes a call several times cheaper. A redirect is returned as it is. A
 * connection without data is closed after ten minutes; an abort signal closes it sooner.
 */
export function modelFetch(): typeof globalThis.fetch {
  let loading: Promise<Agent> | undefined;
  return async (input, init) => {
    // Loaded by the first call, because the client takes 14 MB.
    loading ??= loadAgent();
    const agent = await loading;
    const url = new URL(input instanceof Request ? input.url : input);
    const { body, headers: form } = await bodyOf(init?.body);
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { ...plainHeaders(init?.headers), ...form },
      body,
      signal: init?.signal ?? null,
    });
    const headers: [string, string][] = [];
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers.push([name, typeof value === 'string' ? value : value.join(', ')]);
    }
    // Some compatible servers do not declare event streams. Only JSON and errors are certain not to be streams.
    const whole = answer.statusCode !== 200 || String(answer.headers['content-type']).includes('json');
    const content = whole ? await answer.body.text() : webStream(answer.body);
    return new Response(content === '' ? null : content, { status: answer.statusCode, headers });
  };
}

const IDLE_TIMEOUT_MS = 600_000;

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

/** Wraps the socket's chunks in a byte stream. Cancelling it closes the connection, so that the provider stops generating. */
function webStream(body: AsyncIterable<Uint8Array> & { destroy(): void }): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
