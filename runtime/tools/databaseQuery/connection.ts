import net from 'node:net';
import { bareHost } from '../../../core/outgoing/address.ts';

/** How strictly the connection is encrypted, in the terms of libpq (PostgreSQL documentation, 34.19.1). */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** A database of a tenant and how to log in to it. */
export interface DatabaseTarget {
  /** A host name or an IP address without brackets. */
  host: string;
  port: number;
  user: string;
  /** Empty when the connection has none. */
  password: string;
  database: string;
  sslMode: SslMode;
  /** The server must prove over this TLS session that it knows the password. */
  channelBinding: boolean;
  applicationName: string;
  /** Settings for the session, in the form of libpq's `options`. */
  options: string | undefined;
}

const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] satisfies SslMode[];
const DEFAULT_PORT = 5432;

/**
 * Reads the address of a database. Parameters that make a client read files, or connect to another host or to a socket of this
 * machine, are refused: `host`, `hostaddr`, `service`, `sslcert`, `sslkey`, `sslrootcert`, `passfile` and the like. Returns what
 * is wrong as a text, which repeats nothing of the address but names of parameters.
 */
export function readConnection(text: string): DatabaseTarget | string {
  if (!/^postgres(ql)?:\/\//i.test(text)) return 'The connection must begin with postgres:// or postgresql://.';
  const url = URL.parse(text);
  if (url === null || url.hash !== '') {
    return 'The connection is not a valid address. Percent-encode special characters of the user name and the password.';
  }
  const host = bareHost(url.hostname);
  // The URL parser does not decode the host of this scheme, so percent-encoded socket paths are refused here.
  if (host === '') return 'The connection names no host.';
  if (net.isIPv6(host) !== url.hostname.startsWith('[') || !/^[\w.:-]+$/.test(host)) {
    return 'The host of the connection must be one host name in ASCII letters, or an IP address.';
  }
  let parts: string[];
  try {
    parts = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent);
  } catch {
    return 'The user name, password or database of the connection is not percent-encoded as it should be.';
  }
  const [user = '', password = '', database = ''] = parts;
  if (user === '') return 'The connection names no user.';
  const parameters = [...url.searchParams];
  // A NUL would end a field of the login message early; line breaks could be commands to a server of another protocol.
  if ([...parts, ...parameters.flat()].some((part) => /\p{Cc}/u.test(part))) {
    return 'The connection contains a control character.';
  }
  const target: DatabaseTarget = {
    host,
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user,
    password,
    database: database === '' ? user : database,
    sslMode: 'prefer',
    channelBinding: false,
    applicationName: 'guildhall',
    options: undefined,
  };
  if (target.port === 0) return 'The port of the connection must be between 1 and 65535.';
  const seen = new Set<string>();
  for (const [name, value] of parameters) {
    if (seen.has(name)) return `The connection has the parameter ${name} twice.`;
    seen.add(name);
    const problem = readParameter(target, name, value);
    if (problem !== undefined) return problem;
  }
  if (target.channelBinding && target.sslMode === 'disable') return 'channel_binding=require needs a TLS connection.';
  return target;
}

function readParameter(target: DatabaseTarget, name: string, value: string): string | undefined {
  switch (name) {
    case 'sslmode':
      if (!SSL_MODES.includes(value)) return `sslmode must be one of ${SSL_MODES.join(', ')}.`;
      target.sslMode = value as SslMode;
      return undefined;
    case 'channel_binding':
      if (!/^(disable|prefer|require)$/.test(value)) return 'channel_binding must be disable, prefer or require.';
      target.channelBinding = value === 'require';
      return undefined;
    case 'application_name':
      target.applicationName = value.slice(0, 63);
      return undefined;
    case 'options':
      target.options = value;
      return undefined;
    case 'connect_timeout':
      // Ignored: the time limit of the tool covers connecting.
      return /^\d{1,6}$/.test(value) ? undefined : 'connect_timeout must be a number of seconds.';
    default: {
      const shown = /^\w{1,40}$/.test(name) ? `The parameter ${name}` : 'A parameter';
      return `${shown} of the connection is not supported. Supported are sslmode, channel_binding, application_name, connect_timeout and options.`;
    }
  }
}

/** What is wrong with the address of a database; undefined when nothing is. The host is checked when the tool runs. */
export function checkConnection(text: string): string | undefined {
  const read = readConnection(text);
  return typeof read === 'string' ? read : undefined;
}
