import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { Dispatcher } from 'undici';
import { OutgoingFailed } from './failures.ts';

/** Methods that may be sent. */
export const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OWNED_BY_HTTP =
  /^(accept-encoding|connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
/** All other headers are dropped on a change of origin: a name does not show whether a tenant's own header is a secret. */
const KEPT_ACROSS_ORIGINS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);
const DEFAULT_USER_AGENT: [string, string] = ['user-agent', 'guildhall'];
/** Statuses that lead to another address. */
export const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses whose response never has a body, whatever its headers say. */
export const NULL_BODY = new Set([204, 205, 304]);

/** Whether HTTP itself sets a header of this name: one that is given is left out. */
export function isOwnedByHttp(name: string): boolean {
  return OWNED_BY_HTTP.test(name);
}

/** The headers that really go out, by lower-case name. */
export function requestHeaders(given: Readonly<Record<string, string>>): Map<string, string> {
  const headers = new Map([DEFAULT_USER_AGENT]);
  for (const [name, value] of Object.entries(given)) {
    if (!isOwnedByHttp(name)) headers.set(name.toLowerCase(), value);
  }
  headers.set('accept-encoding', 'gzip, br');
  return headers;
}

/** The headers that are kept when a redirect leads to another origin: never one of `secretHeaders`. */
export function headersForOtherOrigin(
  headers: Map<string, string>,
  secretHeaders: readonly string[] = [],
): Map<string, string> {
  const secret = new Set(secretHeaders.map((name) => name.toLowerCase()));
  const kept = [...headers].filter(([name]) => KEPT_ACROSS_ORIGINS.has(name) && !secret.has(name));
  return new Map([DEFAULT_USER_AGENT, ...kept]);
}

/** The headers that are kept when a redirect turns the request into a GET without a body. */
export function headersWithoutBody(headers: Map<string, string>): Map<string, string> {
  return new Map([...headers].filter(([name]) => !name.startsWith('content-')));
}

/** Lower-case names, repeated headers joined. */
export function responseHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

/** The stream that undoes a Content-Encoding; null where there is nothing to undo. */
export function decoderFor(encoding: string, host: string): Transform | null {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip();
    case 'deflate':
      return zlib.createInflate();
    case 'br':
      return zlib.createBrotliDecompress();
    default:
      // Two layers (`gzip, gzip`) land here too: nobody needs them, and they square the ratio of a bomb.
      throw new OutgoingFailed('protocol', `${host} answered in a compression that was not asked for.`);
  }
}

/** The failure of a body over its limit of `maxBytes`. */
export function tooLarge(host: string, maxBytes: number): OutgoingFailed {
  return new OutgoingFailed('too_large', `The response of ${host} is larger than ${maxBytes} bytes.`);
}
