import { BlockList } from 'node:net';
import express, { type Request, type Router } from 'express';
import { domainNameOf } from '../../core/domainName.ts';
import { hubNameOfHost } from '../../domain/hubs/hubUrl.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { protect } from '../api/identify.ts';

/** What the question needs; a Runtime has it. */
export interface TlsAskParts {
  runtime: Pick<Runtime, 'hubDomain' | 'hubNames'>;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Headers by which proxies say that they pass on a request of somebody else. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/**
 * `GET /internal/tls-ask?domain=`: whether a proxy on this machine shall get a certificate for a domain (Caddy's `on_demand_tls ask`). 200 for
 * a verified custom domain and for a subdomain that a hub has, 404 for any other. Who does not ask from this machine gets 404 as well.
 */
export function tlsAsk({ runtime }: TlsAskParts): Router {
  const router = express.Router();
  router.get('/internal/tls-ask', async (request, response, next) => {
    if (!isFromHere(request)) return next();
    const asked = new URL(request.originalUrl, 'http://localhost').searchParams.getAll('domain');
    const domain = asked.length === 1 ? domainNameOf(asked[0] ?? '') : undefined;
    const name = domain === undefined ? undefined : hubNameOfHost(runtime, domain);
    // One look-up by the primary key: anybody can make a proxy ask, with any name.
    if (name === undefined || !(await runtime.hubNames.owner(name))) return next();
    protect(response);
    response.json({ domain });
  });
  return router;
}

/** Whether a program on this machine asks for itself. The address is that of the socket: headers say what their sender likes. */
function isFromHere(request: Request): boolean {
  const address = request.socket.remoteAddress ?? '';
  const isLoopback = loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  // A proxy on this machine that passes on everything keeps the host that its client asked for.
  const host = URL.parse(`http://${request.headers.host ?? ''}`)?.hostname ?? '';
  const isLocalHost =
    host === 'localhost' || loopback.check(host.replace(/^\[|\]$/g, ''), host.startsWith('[') ? 'ipv6' : 'ipv4');
  return isLoopback && isLocalHost && FORWARDED.every((name) => request.headers[name] === undefined);
}
