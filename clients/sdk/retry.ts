import { ConnectionError } from './errors.ts';

/** The longest wait that the service may ask for. A longer one is the caller's to decide: the error says how long it is. */
const MAX_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 250;

/** Codes of connections that were never made: nothing was sent. A host without an address is not tried again. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
const HOPELESS = /^(ENOTFOUND|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|REDIRECT)/;

/**
 * How long to wait before a request is sent again because of its answer, in milliseconds; `undefined` when the answer stands.
 * 429 was refused before anything was done. 503 with `Retry-After` asks to come back; without it, it may be a proxy that gave up on a
 * request that the service was handling. 409 with `Retry-After` means that the first attempt is still running (Idempotency-Key).
 */
export function waitAfter(response: Response, safe: boolean, attempt: number, now: number): number | undefined {
  const { status, headers } = response;
  const seconds = retryAfterSeconds(headers, now);
  const retried = status === 429 || (status === 503 && (safe || seconds !== undefined));
  const running = status === 409 && safe && seconds !== undefined;
  if (!retried && !running) return undefined;
  // All clients that were refused together would come back together.
  const wait = seconds === undefined ? backOff(attempt) : seconds * 1_000 + backOff(0);
  return wait <= MAX_WAIT_MS + FIRST_WAIT_MS ? wait : undefined;
}

/** How long to wait before a request is sent again because its connection was lost; `undefined` when it must not be. */
export function waitAfterLoss(error: unknown, safe: boolean, attempt: number): number | undefined {
  if (!(error instanceof ConnectionError)) return undefined;
  const code = error.code ?? '';
  if (HOPELESS.test(code)) return undefined;
  return safe || NEVER_SENT.has(code) ? backOff(attempt) : undefined;
}

/** The seconds of `Retry-After`, which is a number or a date (RFC 9110, section 10.2.3). */
export function retryAfterSeconds(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1_000));
}

/** Waits; throws the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** 125 to 250 ms at first, twice as long each time. */
function backOff(attempt: number): number {
  return FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2);
}
