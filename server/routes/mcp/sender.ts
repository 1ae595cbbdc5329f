import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Why a request may come from a page that has no business here; undefined when it may not. A page of another site reaches a service
 * on its visitor's network under a name of its own (DNS rebinding), or names itself as the origin. So `Host` must be a name that
 * is no stranger's: that of the public address, one without a dot, or an IP address. And `Origin`, which browsers send, must be that of the public
 * address or of this machine (transport specification of MCP, "Security Warning").
 */
export function senderFault({ host, origin }: IncomingHttpHeaders, publicUrl: string): string | undefined {
  const own = URL.parse(publicUrl);
  const asked = URL.parse(`http://${host ?? ''}`);
  if (!asked) return 'The Host header names no host.';
  const name = asked.hostname;
  const isNobodys = !name.includes('.') || isIP(name) !== 0 || name.startsWith('[');
  if (!isNobodys && !name.endsWith('.localhost') && name !== own?.hostname)
    return `This service is not known as ${name}. Its operator sets its name with GUILDHALL_PUBLIC_URL.`;
  if (origin === undefined) return undefined;
  const sender = URL.parse(origin);
  const isWeb = sender?.protocol === 'http:' || sender?.protocol === 'https:';
  if (isWeb && (LOOPBACK.has(sender.hostname) || sender.origin === own?.origin)) return undefined;
  return 'Pages of this origin may not use the MCP server.';
}
