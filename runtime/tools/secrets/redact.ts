import { toStorable } from '../../../core/text.ts';
import { credentialParts } from './credentialParts.ts';
import { HIDDEN } from './secrets.ts';

/** Shorter texts occur everywhere, so they are not hidden. */
const MIN_LENGTH = 4;
/** A long path of a secret address is a secret itself; a short one such as `/orders` is not. */
const MIN_PATH_LENGTH = 12;

/** The parts of a secret address to hide: in an error message every part, in data only those that other texts do not have. */
function partsOfAddress(text: string, everyPart: boolean): string[] {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return [];
  const long = [url.pathname, url.search.slice(1)].filter(({ length }) => everyPart || length >= MIN_PATH_LENGTH);
  const login = url.password === '' ? '' : `${decoded(url.username)}:${decoded(url.password)}`;
  const parts = [url.password, login, ...long, ...(everyPart ? [url.username, url.hostname, url.host] : [])];
  return parts.flatMap((part) => [part, decoded(part)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The encodings in which a service may return a secret. */
function formsOf(text: string): string[] {
  return [
    text,
    text.trim(),
    encodeURIComponent(text.toWellFormed()),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64'),
    Buffer.from(text).toString('base64url'),
  ];
}

/**
 * Functions that replace every occurrence of these secrets, plain or encoded, and of the password in a `Basic` credential, with `********`. `message` is for error messages: it
 * also hides each part of a secret address. The results can be stored as text or jsonb.
 */
export function redactor(secrets: readonly string[]): { data: <T>(value: T) => T; message: (text: string) => string } {
  const all = secrets.flatMap((secret) => [secret, ...credentialParts(secret)]);
  const data = hider(all.flatMap((secret) => [secret, ...partsOfAddress(secret, false)]));
  const message = hider(all.flatMap((secret) => [secret, ...partsOfAddress(secret, true)]));
  return {
    data: <T>(value: T) => walk(value, (text) => toStorable(data(text), '\uFFFD')) as T,
    message: (text) => toStorable(message(text), '\uFFFD'),
  };
}

/** What came of a call: data, and what went wrong. */
export interface CallOutcome {
  data: unknown;
  message: string | null;
}

/** The outcome with these secrets hidden. Takes time in proportion to the secrets and to the outcome, multiplied: see hideSecrets.ts. */
export function hideInOutcome({ data, message }: CallOutcome, secrets: readonly string[]): CallOutcome {
  const redact = redactor(secrets);
  return { data: redact.data(data), message: message === null ? null : redact.message(message) };
}

function hider(secrets: readonly string[]): (text: string) => string {
  // The longest first, since a secret may contain another.
  const hidden = [...new Set(secrets.flatMap(formsOf))]
    .filter(({ length }) => length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  if (hidden.length === 0) return (text) => text;
  const any = new RegExp(hidden.map((text) => RegExp.escape(text)).join('|'), 'g');
  return (text) => text.replace(any, HIDDEN);
}

function walk(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'number') {
    const text = String(value);
    const shown = hide(text);
    return shown === text ? value : shown;
  }
  if (Array.isArray(value)) return value.map((item) => walk(item, hide));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [hide(key), walk(inner, hide)]));
}
