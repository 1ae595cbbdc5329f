import { API_VERSION, DEFAULT_ORIGIN } from '../../generated/calls.ts';
import { API_PREFIX } from '../../generated/operations.ts';

/** How the service is reached. */
export interface GuildhallOptions {
  /** The key of a workspace, sent as `X-Api-Key`. Without one the service answers 401 `MISSING_API_KEY`. */
  apiKey?: string | undefined;
  /** The address of the service, with or without `/public/api/v1`. Default: `http://127.0.0.1:3000`. */
  baseUrl?: string | undefined;
  /** More headers for every request. */
  headers?: Record<string, string> | undefined;
  /** The program that uses the SDK, such as `shop/2.0`: put before the SDK's own name. Browsers send their own name instead. */
  userAgent?: string | undefined;
  /** How long one attempt may take, in milliseconds; of a stream, how long it may be silent. Default: 60 s, 6 minutes for messages and files. */
  timeoutMs?: number | undefined;
  /** How often a request is sent again after 429, 503 or a lost connection. Default 2, 0 for never. */
  retries?: number | undefined;
  /** Is told that a request waits before it is sent again. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Ends every request. */
  signal?: AbortSignal | undefined;
}

/** Why a request is sent again, and when. */
export interface Retry {
  waitMs: number;
  /** The status of the answer; absent when there was none. */
  status?: number | undefined;
  /** Why there was no answer. */
  error?: Error | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  /** The address of the API, without a slash at its end: `http://127.0.0.1:3000/public/api/v1`. */
  base: string;
  origin: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number | undefined;
  retries: number;
  fetch: typeof fetch;
  onRetry: ((retry: Retry) => void) | undefined;
  signal: AbortSignal | undefined;
}

const DEFAULT_RETRIES = 2;

/**
 * Checks the options, before anything is sent.
 * @throws TypeError with a sentence that does not repeat the key
 */
export function settingsOf(options: GuildhallOptions): Settings {
  const { apiKey, timeoutMs, retries = DEFAULT_RETRIES, onRetry, signal } = options;
  if (timeoutMs !== undefined) checkTimeout(timeoutMs);
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries must be a whole number, 0 or more.');
  const base = apiAddress(options.baseUrl ?? DEFAULT_ORIGIN);
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) headers['x-api-key'] = checkedKey(apiKey);
  if (!inBrowser()) headers['user-agent'] = userAgent(options.userAgent);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = value;
  // The global function may be replaced after this, and browsers refuse to call it as a method of another object.
  const send: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  return { base, origin: new URL(base).origin, headers, timeoutMs, retries, fetch: send, onRetry, signal };
}

/** The address that a text is; `undefined` when it is none. `URL.parse` does not exist in Node.js 20. */
export function urlOf(text: string, base?: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined;
}

/** @throws TypeError when it is no time that a request can wait */
export function checkTimeout(timeoutMs: number): void {
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be more than 0. Infinity waits for ever.');
}

/**
 * The address of the API from that of the service, with or without its prefix.
 * @throws TypeError when it is no address of a service
 */
function apiAddress(baseUrl: string): string {
  const url = urlOf(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl must be an address such as ${DEFAULT_ORIGIN} or https://guildhall.example.`);
  }
  if (url.username || url.password) throw new TypeError('baseUrl must not contain a user name or a password.');
  if (url.search || url.hash) throw new TypeError('baseUrl must end with the path: no ? and no #.');
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin + (path.endsWith(API_PREFIX) ? path : path + API_PREFIX);
}

function checkedKey(apiKey: string): string {
  // The error of `fetch` would repeat the whole key.
  if (!/^[!-~]+$/.test(apiKey)) {
    throw new TypeError('The API key is empty, or contains a space, a line end or another character that no key has.');
  }
  return apiKey;
}

function userAgent(program: string | undefined): string {
  const own = `guildhall-sdk/${API_VERSION}`;
  if (program === undefined) return own;
  if (!/^[ -~]+$/.test(program)) throw new TypeError('userAgent must be visible ASCII characters.');
  return `${program} ${own}`;
}

/** Browsers decide on `User-Agent` themselves: some drop ours, others ask the service's leave for it (CORS). */
function inBrowser(): boolean {
  return 'window' in globalThis || 'importScripts' in globalThis;
}
