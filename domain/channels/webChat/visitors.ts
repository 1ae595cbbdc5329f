import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { isUuid } from '../../../core/ids.ts';
import type { SecretBox } from '../../../core/secrets.ts';
import { isStorable } from '../../../core/text.ts';

/** A visitor is known for so long after the last visit. */
export const VISITOR_MS = 30 * 24 * 60 * 60 * 1000;
/** A token that is older is replaced at the next visit, so that the time counts from the last one. */
const RENEW_MS = 24 * 60 * 60 * 1000;
/** Characters of a token; ours have fewer. */
const MAX_TOKEN = 2000;
const MAX_USER_ID = 255;
/** Before the id of a user of a client. */
const USER = 'client-user-';
const PURPOSE = 'visitor of a chat page';

/** Who uses a chat page. */
export interface ChatVisitor {
  /** The value of the identity of kind visitor, and the external user id of the conversations. */
  id: string;
  /** Whether it is known who it is: the site that embeds the page says so, and `id` is the site's own; or it is a user of a client. */
  isIdentified: boolean;
}

/** A visitor, with the token by which the browser is known again. */
export interface VisitorSession {
  visitor: ChatVisitor;
  token: string;
}

/** What a token says. The names are short: it travels with each request. */
interface Claims {
  /** The connection. */
  c: string;
  /** The visitor. */
  v: string;
  /** 1 = identified. */
  i: 0 | 1;
  /** When it was made, in seconds since 1970. */
  t: number;
}

function tokenOf(secrets: SecretBox, connectionId: string, visitor: ChatVisitor, now: Date): string {
  const claims: Claims = {
    c: connectionId,
    v: visitor.id,
    i: visitor.isIdentified ? 1 : 0,
    t: Math.floor(now.getTime() / 1000),
  };
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${text}.${secrets.sign(text, PURPOSE).toString('base64url')}`;
}

/** What a token says, if we signed it for this connection and it has not expired. */
function claimsOf(secrets: SecretBox, connectionId: string, token: string, now: Date): Claims | undefined {
  if (token.length > MAX_TOKEN) return undefined;
  const [text = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || !secrets.isSigned(text, PURPOSE, Buffer.from(signature, 'base64url'))) return undefined;
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims;
  const isFresh = claims.t * 1000 > now.getTime() - VISITOR_MS;
  return claims.c === connectionId && isFresh ? claims : undefined;
}

/** The visitor whom a token names; undefined for one that is forged, of another connection, or 30 days old. */
export function readVisitor(
  secrets: SecretBox,
  connectionId: string,
  token: string,
  now: Date,
): ChatVisitor | undefined {
  const claims = claimsOf(secrets, connectionId, token, now);
  return claims && { id: claims.v, isIdentified: claims.i === 1 };
}

/** The session of a browser: that of its token, which is made anew after a day, or that of a new visitor. */
export function openVisit(
  secrets: SecretBox,
  connectionId: string,
  token: string | undefined,
  now: Date,
): VisitorSession {
  const claims = token === undefined ? undefined : claimsOf(secrets, connectionId, token, now);
  if (!claims || token === undefined) return startSession(secrets, connectionId, newVisitor(), now);
  const visitor = { id: claims.v, isIdentified: claims.i === 1 };
  const isYoung = claims.t * 1000 > now.getTime() - RENEW_MS;
  return { visitor, token: isYoung ? token : tokenOf(secrets, connectionId, visitor, now) };
}

/** The session of a person whom the site has named. */
export function startSession(
  secrets: SecretBox,
  connectionId: string,
  visitor: ChatVisitor,
  now: Date,
): VisitorSession {
  return { visitor, token: tokenOf(secrets, connectionId, visitor, now) };
}

/** A user of a client as a visitor: the same in every browser, and another one than whoever uses the page without being signed in. */
export function userVisitor(userId: string): ChatVisitor {
  return { id: `${USER}${userId}`, isIdentified: true };
}

/** The user of a client that a visitor is; undefined for everybody else. The token of such a visitor counts together with the user's session only. */
export function clientUserOfVisitor({ id }: Pick<ChatVisitor, 'id'>): string | undefined {
  const userId = id.slice(USER.length);
  return id.startsWith(USER) && isUuid(userId) ? userId : undefined;
}

function newVisitor(): ChatVisitor {
  return { id: `visitor-${randomUUID()}`, isIdentified: false };
}

/**
 * The person whom a site names by its own id, when `hmac` proves that the site did: HMAC-SHA256 of the id with one of the secrets of the
 * connection, in hexadecimal digits. Undefined when it does not.
 */
export function identifiedVisitor(secrets: readonly string[], userId: string, hmac: string): ChatVisitor | undefined {
  if (userId.trim() !== userId || userId === '' || [...userId].length > MAX_USER_ID || !isStorable(userId))
    return undefined;
  const given = Buffer.from(hmac, 'hex');
  const isProven = secrets.some((secret) => {
    const expected = createHmac('sha256', secret).update(userId).digest();
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  return isProven ? { id: userId, isIdentified: true } : undefined;
}
