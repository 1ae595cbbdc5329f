import { randomBytes } from 'node:crypto';

/** The secret that was replaced works for so long, so that a site can change it without a gap. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;
/** 256 random bits. */
const SECRET_BYTES = 32;

/** The credentials of a connection of type web_chat, as they are sealed. */
export interface WebChatCredentials {
  /** By which a site proves who its users are (`identifiedVisitor`). */
  identitySecret?: string;
  previousSecret?: string;
  /** ISO 8601. */
  previousUntil?: string;
}

/** Makes a new secret. The one before it works for a day more. */
export function rotateIdentitySecret(
  before: WebChatCredentials | null,
  now: Date,
): { secret: string; credentials: WebChatCredentials } {
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  const previous = before?.identitySecret;
  const until = new Date(now.getTime() + OVERLAP_MS).toISOString();
  return {
    secret,
    credentials: { identitySecret: secret, ...(previous ? { previousSecret: previous, previousUntil: until } : {}) },
  };
}

/** The secrets that count now, none when the connection has none. */
export function identitySecretsOf(credentials: WebChatCredentials | null, now: Date): string[] {
  const { identitySecret, previousSecret, previousUntil } = credentials ?? {};
  const isPreviousValid = previousUntil !== undefined && new Date(previousUntil) > now;
  return [identitySecret, isPreviousValid ? previousSecret : undefined].filter((each) => each !== undefined);
}
