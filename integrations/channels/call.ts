import { guardedFetch, OutgoingFailed, type OutgoingFailure, OutgoingRefused } from '../../core/outgoing.ts';
import { shorten } from '../../core/text.ts';
import { asObject, type Payload, parseJson } from './payload.ts';
import { type ChannelAccount, type InboundMedia, SendFailed } from './provider.ts';

/** Milliseconds of one call of a provider's API. */
const CALL_MS = 20_000;
/** Answers of the APIs have some hundred bytes. */
const MAX_ANSWER_BYTES = 1_000_000;
/** Milliseconds in which a file must be here. */
const MEDIA_MS = 60_000;
/** Largest file of a message: 20 MiB. */
const MAX_MEDIA_BYTES = 20 * 1024 * 1024;
/** Characters of a provider's words in an error. */
const MAX_WORDS = 500;
/** A shorter value of the credentials is no secret that could be looked for in a text. */
const MIN_SECRET = 6;

/** One call of a provider's API. */
export interface ProviderCall {
  /** Goes before what went wrong, such as `WhatsApp`. */
  provider: string;
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  signal: AbortSignal;
}

/** The answer of a provider's API; `body` is empty when it was no JSON object. */
export interface ProviderAnswer {
  status: number;
  body: Payload;
}

/** The look-up, the connection or the handshake failed: nothing was sent. */
const NEVER_LEFT: ReadonlySet<OutgoingFailure> = new Set(['dns', 'tls']);
/** Errors of a socket that never opened. */
const NEVER_OPENED: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
];

const REASONS: Readonly<Record<OutgoingFailure, string>> = {
  timeout: 'did not answer in time',
  too_large: 'answered with too much',
  dns: 'cannot be reached',
  connect: 'cannot be reached',
  tls: 'cannot be reached over a secure connection',
  redirect: 'redirects, which is not followed',
  protocol: 'gave no valid answer',
};

/**
 * Calls the API of a provider at the operator's address, which may be in a private network. Redirects are not followed: credentials go
 * nowhere else. Any status is an answer. Throws SendFailed, whose text has neither address nor credential, or the signal's reason.
 */
export async function callProvider({ provider, url, body, ...call }: ProviderCall): Promise<ProviderAnswer> {
  try {
    const answer = await guardedFetch(url, {
      ...call,
      headers: { ...call.headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      accept: 'application/json',
      timeoutMs: CALL_MS,
      maxBytes: MAX_ANSWER_BYTES,
      maxRedirects: 0,
      allowPrivateNetwork: true,
      workspaceId: null,
    });
    return { status: answer.status, body: asObject(parseJson(answer.body)) };
  } catch (error) {
    // The cause is left out: an error of the HTTP client may hold the path, and Z-API has its token in there.
    if (error instanceof OutgoingRefused) throw new SendFailed(`${provider} is at an address that cannot be called.`);
    if (!(error instanceof OutgoingFailed)) throw error;
    const isUnconfirmed = mayHaveLeft(error);
    const isBroken = isUnconfirmed && error.reason === 'connect';
    const reason = isBroken ? 'closed the connection before it answered' : REASONS[error.reason];
    throw new SendFailed(`${provider} ${reason}.`, isUnconfirmed);
  }
}

/** Whether the request may have reached the provider before the call failed. */
function mayHaveLeft(error: OutgoingFailed): boolean {
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return !NEVER_LEFT.has(error.reason) && !NEVER_OPENED.includes(code);
}

/** Where a file is, and how it is fetched. */
export interface MediaCall {
  provider: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  account: ChannelAccount;
  allowPrivateNetwork: boolean;
  signal: AbortSignal;
}

/** Fetches a file of at most 20 MiB with the guarded client. Throws an Error without address or credential, or the signal's reason. */
export async function fetchFile(call: MediaCall): Promise<{ bytes: Buffer; mediaType: string | null }> {
  const { provider, url, headers = {}, account, allowPrivateNetwork, signal } = call;
  try {
    const answer = await guardedFetch(url, {
      headers,
      secretHeaders: Object.keys(headers),
      timeoutMs: MEDIA_MS,
      maxBytes: MAX_MEDIA_BYTES,
      allowPrivateNetwork,
      workspaceId: account.workspaceId,
      signal,
    });
    if (answer.status !== 200) throw new Error(`The file cannot be had from ${provider} (HTTP ${answer.status}).`);
    return { bytes: answer.body, mediaType: answer.headers['content-type'] ?? null };
  } catch (error) {
    if (error instanceof OutgoingRefused) throw new Error('The file is at an address that may not be called.');
    if (!(error instanceof OutgoingFailed)) throw error;
    throw new Error(error.reason === 'too_large' ? tooLarge() : `The file's server ${REASONS[error.reason]}.`);
  }
}

/** Throws when a provider says that a file is larger than what is fetched. */
export function checkFileSize(bytes: unknown): void {
  if (Number(bytes) > MAX_MEDIA_BYTES) throw new Error(tooLarge());
}

function tooLarge(): string {
  return 'The file is larger than 20 MiB.';
}

/** The type of a file: as the provider named it, else as its server did. */
export function mediaTypeOf(media: InboundMedia, served: string | null): string | null {
  return media.mediaType ?? served;
}

/** A provider's words for a log or an error: short, and without any value of the credentials. */
export function withoutSecrets(words: string, account: ChannelAccount): string {
  let text = words;
  for (const secret of Object.values(account.credentials)) {
    if (typeof secret === 'string' && secret.length >= MIN_SECRET) text = text.replaceAll(secret, '…');
  }
  return shorten(text, MAX_WORDS);
}

/** A value of the configuration or the credentials; '' when it is missing. */
export function settingOf(values: Readonly<Record<string, unknown>>, name: string): string {
  const value = values[name];
  return typeof value === 'string' ? value : '';
}
