import type { ChatFile, ChatMessage, PageState } from './types.ts';

/** What the page calls: everything is relative to its own address. */
const BASE = location.pathname.replace(/\/$/, '');
/**
 * A user of a client is known by the hub's session. Not in a frame: whoever embeds the page must not get the client's credits used.
 */
const CREDENTIALS = parent === self ? 'same-origin' : 'omit';

/** An answer that is no success. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  /** When it may be tried again; null = not said. */
  readonly until: Date | null;

  constructor(status: number, code: string, until: Date | null) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
    this.until = until;
  }
}

/** A session and what it begins with. */
export interface PageSession {
  token: string;
  isIdentified: boolean;
  messages: ChatMessage[];
  hasMore: boolean;
  state: PageState;
}

async function call(
  method: string,
  path: string,
  { token, body, headers, signal }: CallOptions = {},
): Promise<Response> {
  const isForm = body instanceof FormData;
  const response = await fetch(BASE + path, {
    method,
    credentials: CREDENTIALS,
    cache: 'no-store',
    headers: {
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...(body !== undefined && !isForm ? { 'Content-Type': 'application/json' } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  if (response.ok) return response;
  const seconds = Number(response.headers.get('Retry-After'));
  const until = seconds > 0 ? new Date(Date.now() + seconds * 1000) : null;
  const { code = '' } = await response.json().catch(() => ({}));
  throw new Refused(response.status, code, until);
}

interface CallOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const json = async <T>(response: Promise<Response>): Promise<T> => (await (await response).json()) as T;

/** Opens a session: of the token's visitor, of a person whom the site names, or of somebody new. */
export const beginSession = (body: { token?: string; userId?: string; hmac?: string }) =>
  json<PageSession>(call('POST', '/session', { body }));

/** Messages before the one of this number. */
export const earlierMessages = (token: string, before: number) =>
  json<Pick<PageSession, 'messages' | 'hasMore'>>(call('GET', `/messages?before=${before}`, { token }));

/** Sends a message. It may be sent again: the same id is the same message. */
export const postMessageOf = (token: string, body: { id: string; text: string; files: string[] }) =>
  call('POST', '/messages', { token, body });

/** Uploads a file. */
export function uploadFile(token: string, file: File): Promise<ChatFile> {
  const body = new FormData();
  body.append('file', file);
  return json<ChatFile>(call('POST', '/files', { token, body }));
}

/** The content of a file, for as long as the page is open. */
export const readFile = async (token: string, id: string) => (await call('GET', `/files/${id}`, { token })).blob();

/** Decides on a call that waits. */
export const decide = (token: string, id: string, decision: 'approve' | 'reject') =>
  json<PageState>(call('POST', `/approvals/${id}`, { token, body: { decision } }));

/** Asks for a person, or goes on with the agent. */
export const askForPerson = (token: string, wanted: boolean) =>
  json<PageState>(call('POST', '/person', { token, body: { wanted } }));

/** An event of the stream. */
export type ChatEvent =
  | { event: 'message'; data: ChatMessage }
  | { event: 'reply'; data: { reply: string | null } }
  | { event: 'text'; data: { reply: string; at: number; text: string } }
  | { event: 'state'; data: PageState };

/** Without a sign of life for so long, a connection is taken for lost. */
const SILENCE_MS = 40_000;

/** Reads the stream until it ends, after the event `lastId`. Calls `onEvent` with each event and its id. Throws when it is cut. */
export async function readStream(
  token: string,
  lastId: string,
  signal: AbortSignal,
  { onOpen, onEvent }: { onOpen(): void; onEvent(event: ChatEvent, id: string): void },
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await call('GET', '/stream', {
      token,
      headers: { 'Last-Event-ID': lastId },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    onOpen();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: '' };
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = new Map(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        const data = fields.get('data');
        if (data) onEvent({ event: fields.get('event'), data: JSON.parse(data) } as ChatEvent, fields.get('id') ?? '');
      }
    }
  } finally {
    clearTimeout(timer);
  }
}
