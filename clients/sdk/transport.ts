import { ConnectionError, TimeoutError } from './errors.ts';
import { type Retry, type Settings, urlOf } from './options.ts';
import { pause, waitAfter, waitAfterLoss } from './retry.ts';
import type { RequestBody } from './types.ts';

/** A request that can be sent. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Headers;
  body?: RequestBody | undefined;
  /** To send it twice does the same as to send it once. */
  safe: boolean;
  signal?: AbortSignal | undefined;
  timeoutMs: number;
}

const MAX_REDIRECTS = 5;
/** Timers of Node and of browsers count in 32 bits; a longer time would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Sends a request, again where that is safe, and reads the answer. What `read` throws because the connection broke counts as a loss, too. */
export async function exchange<Answer>(
  settings: Settings,
  request: Outgoing,
  read: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  const repeatable = !(request.body instanceof ReadableStream);
  for (let attempt = 0; ; attempt += 1) {
    const last = attempt >= settings.retries || !repeatable;
    let retry: Retry | undefined;
    try {
      const response = await sendOnce(settings, request);
      const waitMs = last ? undefined : waitAfter(response, request.safe, attempt, Date.now());
      if (waitMs === undefined) return await read(response);
      retry = { waitMs, status: response.status };
      await response.body?.cancel();
    } catch (error) {
      const waitMs = last ? undefined : waitAfterLoss(error, request.safe, attempt);
      if (waitMs === undefined) throw error;
      retry = { waitMs, error: error as Error };
    }
    settings.onRetry?.(retry);
    await pause(retry.waitMs, anyOf(settings.signal, request.signal));
  }
}

/** One attempt, with its redirects. The body of the response keeps to the time limit while it is read. */
async function sendOnce(settings: Settings, request: Outgoing): Promise<Response> {
  const watch = new Watch(anyOf(settings.signal, request.signal), request.timeoutMs, settings.origin);
  try {
    let url = request.url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await settings.fetch(url, {
        method: request.method,
        headers: request.headers,
        // A redirect to another origin would get the key.
        redirect: 'manual',
        signal: watch.signal,
        ...(request.body === undefined ? {} : { body: request.body, duplex: 'half' }),
      } as RequestInit);
      const next = redirectOf(response, url, request.method);
      if (next === undefined) return guarded(response, watch, settings.origin);
      await response.body?.cancel();
      url = next;
    }
    throw new ConnectionError(`${settings.origin} redirects again and again.`, 'REDIRECT');
  } catch (error) {
    watch.stop();
    throw watch.explain(error);
  }
}

/** Where a response sends the request, if that is the same service. Throws when it is not. */
function redirectOf(response: Response, url: string, method: string): string | undefined {
  const hidden = response.type === 'opaqueredirect';
  const location = response.headers.get('location');
  if (!hidden && (!(response.status >= 300 && response.status < 400) || !location)) return undefined;
  const target = location === null ? undefined : urlOf(location, url);
  const { origin } = new URL(url);
  if (!target) {
    const where = hidden ? 'elsewhere' : 'to an address that cannot be read';
    throw new ConnectionError(`${origin} redirects ${where}. Use the address of the service itself.`, 'REDIRECT');
  }
  if (target.origin !== origin) {
    throw new ConnectionError(
      `${origin} redirects to ${target.origin}. The key is not sent there; if that is the service, use its address.`,
      'REDIRECT',
    );
  }
  // 301, 302 and 303 make a GET of other methods.
  if (method !== 'GET' && method !== 'HEAD' && response.status < 307) {
    throw new ConnectionError(`${origin} answers ${method} with a redirect that loses its body.`, 'REDIRECT');
  }
  return target.href;
}

/** The clock of one attempt: ends it when it takes too long, or when the caller says so. */
class Watch {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #origin: string;
  readonly #outer: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined, timeoutMs: number, origin: string) {
    this.#outer = outer;
    this.#timeoutMs = timeoutMs;
    this.#origin = origin;
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener('abort', this.#abort, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    const end = () => this.#controller.abort(new TimeoutError(this.#origin, this.#timeoutMs));
    this.#timer = setTimeout(end, Math.min(this.#timeoutMs, MAX_TIMER_MS));
    // A response whose body nobody reads must not keep a program running.
    (this.#timer as { unref?(): void }).unref?.();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  /** What an error of `fetch` means. */
  explain(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    return error instanceof ConnectionError ? error : connectionError(error, this.#origin);
  }
}

/** The response, whose body ends with an error of ours. Of a stream each piece starts the clock again. */
function guarded(response: Response, watch: Watch, origin: string): Response {
  const { status, statusText, headers, body } = response;
  if (!body) {
    watch.stop();
    return response;
  }
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const reader = body.getReader();
  const checked = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (isStream) watch.restart();
          if (!done) return controller.enqueue(value);
          watch.stop();
          controller.close();
        } catch (error) {
          watch.stop();
          controller.error(watch.explain(error));
        }
      },
      cancel(reason) {
        watch.stop();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const result = new Response(checked, { status, statusText, headers });
  Object.defineProperty(result, 'url', { value: response.url || origin });
  return result;
}

const SENTENCES: Record<string, (origin: string) => string> = {
  ECONNREFUSED: (origin) => `Nothing listens at ${origin}.`,
  ENOTFOUND: (origin) => `There is no host with the name in ${origin}.`,
  EAI_AGAIN: (origin) => `The name in ${origin} could not be looked up.`,
  ECONNRESET: (origin) => `${origin} closed the connection before its answer was complete.`,
  UND_ERR_SOCKET: (origin) => `${origin} closed the connection before its answer was complete.`,
  UND_ERR_CONNECT_TIMEOUT: (origin) => `${origin} could not be reached in time.`,
  HPE_INVALID_CONSTANT: (origin) => `What answers at ${origin} does not speak HTTP.`,
};

/** The HTTP client of Node.js waits no longer than five minutes for the beginning of an answer, and for each piece of it. */
const NODE_TIMEOUT_MS = 300_000;
const NODE_TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function connectionError(error: unknown, origin: string): ConnectionError | TimeoutError {
  // Node.js says `fetch failed`, and why in `cause`. The error may be of another realm, where `instanceof` does not know it.
  const { cause = error } = (error ?? {}) as { cause?: unknown };
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const name = typeof code === 'string' ? code : undefined;
  if (name && NODE_TIMEOUTS.has(name)) return new TimeoutError(origin, NODE_TIMEOUT_MS);
  const why = [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const sentence = SENTENCES[name ?? '']?.(origin) ?? `${origin} cannot be reached (${why || 'no reason given'}).`;
  return new ConnectionError(sentence, name, error);
}

/** A signal that is aborted as soon as one of the two is. */
function anyOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}
