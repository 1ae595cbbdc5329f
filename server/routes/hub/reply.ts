import type { Response } from 'express';
import { sessionCookie } from './session.ts';
import type { HubReply, HubSite } from './visit.ts';

/** Sets what the headers of every answer of a hub say, of pages and of problems. */
export function setPageHeaders(response: Response): void {
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=()');
}

/** Sends the answer. `site` is undefined where there is no hub: such an answer is a page. */
export function sendReply(site: HubSite | undefined, response: Response, reply: HubReply, now: Date): void {
  const { session } = reply;
  if (site && session !== undefined) response.setHeader('Set-Cookie', sessionCookie(site, session, now));
  if ('redirect' in reply) {
    // 303: what comes next is asked for by GET, whatever the form was sent by.
    response.status(303).setHeader('Location', reply.redirect).end();
  } else if ('asset' in reply) {
    response.setHeader('Cache-Control', reply.asset.caching);
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    response.setHeader('Content-Type', reply.asset.mediaType);
    response.end(reply.asset.body);
  } else {
    const { page, status = 200, formTargets } = reply;
    response.setHeader('Content-Security-Policy', policyOf(page, formTargets));
    if (!page.isEmbed) response.setHeader('X-Frame-Options', 'DENY');
    // Prices are the same for everyone: a browser may show them again, after it has asked.
    if (reply.isPublic) response.setHeader('Cache-Control', 'no-cache');
    response.status(status).type('html').send(page.text);
  }
}

/** A page loads the hub's own files, and no script runs but the one that tells how high an embedded page is. */
function policyOf({ styleSource, isEmbed }: { styleSource: string; isEmbed: boolean }, formTargets = ''): string {
  return [
    "default-src 'none'",
    `style-src 'self' ${styleSource}`,
    "img-src 'self'",
    isEmbed ? "script-src 'self'" : "script-src 'none'",
    "base-uri 'none'",
    `form-action 'self'${formTargets && ` ${formTargets}`}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    `frame-ancestors ${isEmbed ? '*' : "'none'"}`,
  ].join('; ');
}
