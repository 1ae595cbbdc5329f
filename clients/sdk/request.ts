import { calls } from '../../generated/calls.ts';
import { API_PREFIX, type OperationId } from '../../generated/operations.ts';
import { checkTimeout, type Settings } from './options.ts';
import type { Outgoing } from './transport.ts';
import type { AnyInput, UploadFile } from './types.ts';

interface Call {
  method: string;
  path: string;
  takesKey: boolean;
  paged: boolean;
}

/** `fetch` may repeat these without harm (RFC 9110, section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']);
const DEFAULT_TIMEOUT_MS = 60_000;
/** A turn of an agent has five minutes, and a file of 20 MiB takes as long on a slow line. */
const LONG_TIMEOUT_MS = 360_000;
const SLOW = new Set<string>(['sendMessage', 'createKnowledgeSource', 'uploadSkill', 'uploadHubLogo']);

/** @throws TypeError when there is no such operation */
export function callOf(id: OperationId): Call {
  if (!Object.hasOwn(calls, id)) throw new TypeError(`There is no operation ${id}.`);
  return calls[id];
}

/**
 * The request of an operation.
 * @throws TypeError when a parameter of the path is missing, or would make another path of it
 */
export function requestOf(settings: Settings, id: OperationId, input: AnyInput): Outgoing {
  const { method, path } = callOf(id);
  const headers = headersOf(settings, input.headers);
  const form = input.file === undefined ? undefined : formOf(input.file, input.metadata);
  const json = form === undefined && input.body !== undefined ? JSON.stringify(input.body) : undefined;
  if (json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  if (input.idempotencyKey !== undefined) headers.set('idempotency-key', input.idempotencyKey);
  return {
    method,
    url: settings.base + pathOf(id, path, input.path ?? {}) + queryOf(input.query ?? {}),
    headers,
    body: form ?? json,
    signal: input.signal,
    safe: isSafe(id, method, headers),
    timeoutMs: timeoutOf(settings, id, input.timeoutMs),
  };
}

/** The headers of a request: those of the settings, and over them its own. */
export function headersOf(settings: Settings, own: Record<string, string> = {}): Headers {
  const headers = new Headers(settings.headers);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

/** Gives the request a key if the operation takes one, and says whether it may then be sent twice. */
export function isSafe(id: OperationId | undefined, method: string, headers: Headers): boolean {
  const takesKey = id !== undefined && callOf(id).takesKey;
  if (takesKey && !headers.has('idempotency-key')) headers.set('idempotency-key', randomKey());
  return IDEMPOTENT.has(method) || takesKey;
}

/** How long one attempt may take. @throws TypeError when `timeoutMs` is no time */
export function timeoutOf(settings: Settings, id: OperationId | undefined, timeoutMs: number | undefined): number {
  if (timeoutMs !== undefined) checkTimeout(timeoutMs);
  return timeoutMs ?? settings.timeoutMs ?? (id && SLOW.has(id) ? LONG_TIMEOUT_MS : DEFAULT_TIMEOUT_MS);
}

/** The operation that a method and a path of the service mean. `path` begins with the prefix, wherever the service is mounted. */
export function operationAt(method: string, path: string): OperationId | undefined {
  const segments = path.slice(path.indexOf(API_PREFIX) + API_PREFIX.length).split('/');
  const found = Object.entries(calls).filter(
    ([, call]) => call.method === method && fits(call.path.split('/'), segments),
  );
  // A path without parameters is meant before one with them: `/versions/published` before `/versions/{versionNumber}`.
  const [id] = found.find(([, call]) => !call.path.includes('{')) ?? found.toSorted(byParameters)[0] ?? [];
  return id as OperationId | undefined;
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) => part === segments[index] || (part.startsWith('{') && segments[index] !== ''))
  );
}

function byParameters([, one]: [string, Call], [, other]: [string, Call]): number {
  return one.path.split('{').length - other.path.split('{').length;
}

function pathOf(id: OperationId, path: string, values: Record<string, string | number>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(values[name] ?? '');
    // A missing value, `.` and `..` would make the path of another operation.
    if (text === '' || text === '.' || text === '..') throw new TypeError(`${id} needs path.${name}.`);
    return encodeURIComponent(text);
  });
}

/** An array is a repeated name. Nothing is sent for `undefined` and `null`. */
function queryOf(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined && each !== null)
      .map((each): [string, string] => [name, each instanceof Date ? each.toISOString() : String(each)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function formOf({ data, name, type }: UploadFile, metadata: unknown): FormData {
  const form = new FormData();
  if (metadata !== undefined) form.append('metadata', JSON.stringify(metadata));
  const ofType = type === undefined ? {} : { type };
  const blob = data instanceof Blob && type === undefined ? data : new Blob([data], ofType);
  form.append('file', blob, name);
  return form;
}

/** 128 random bits. `crypto.randomUUID` does not exist in pages that were not loaded over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
