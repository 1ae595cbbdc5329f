import type { IncomingMessage } from 'node:http';
import type { NewToken } from '../../../domain/hubs/sessions.ts';
import type { HubSite } from './visit.ts';

/**
 * The name of the cookie. With the prefix browsers keep it to this very host: a sibling below the same domain can neither read nor set it
 * (RFC 6265bis, 4.1.3.2).
 */
function cookieName({ isSecure, base }: Pick<HubSite, 'isSecure' | 'base'>): string {
  return isSecure && base === '' ? '__Host-hub_session' : 'hub_session';
}

/** The secret of the session that a browser shows; undefined without one. */
export function sessionTokenOf(site: Pick<HubSite, 'isSecure' | 'base'>, request: IncomingMessage): string | undefined {
  const name = `${cookieName(site)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
  return cookies.find((each) => each.startsWith(name))?.slice(name.length);
}

/** The value of `Set-Cookie` for a session that begins or goes on; null = it ends. */
export function sessionCookie(site: Pick<HubSite, 'isSecure' | 'base'>, session: NewToken | null, now: Date): string {
  const seconds = session ? Math.max(0, Math.floor((session.expiresAt.getTime() - now.getTime()) / 1000)) : 0;
  const parts = [
    `${cookieName(site)}=${session?.token ?? ''}`,
    `Path=${site.base || '/'}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Lax',
  ];
  if (site.isSecure) parts.push('Secure');
  return parts.join('; ');
}
