import net from 'node:net';
import ipaddr from 'ipaddr.js';
import { OutgoingFailed, OutgoingRefused } from './failures.ts';
import type { Lookup, LookupCall, ResolvedAddress } from './names.ts';

/** What `allowPrivateNetwork` adds to the public internet: the ranges in which a self-hosted network lives. */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/**
 * Instance metadata and platform services that hand out credentials. They stay refused when private networks are allowed;
 * 169.254.0.0/16 and fe80::/10 are refused with their range. AWS (IPv6), Alibaba Cloud, Azure (a public address).
 */
const METADATA_ADDRESSES = new Set(['fd00:ec2::254', '100.100.100.200', '168.63.129.16']);

/**
 * Ports whose protocol is not HTTP and that a request could be made to talk to: the bad ports of the Fetch standard
 * (https://fetch.spec.whatwg.org/#port-blocking), and the stores that read a line at a time.
 */
const REFUSED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190, 5060,
  5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
]);

/**
 * Whether a connection to this IP address may be made. Public unicast passes; `allowPrivate` adds loopback, RFC 1918, carrier
 * grade NAT and unique local addresses. IPv4 inside IPv6 is judged by the IPv4 address where a network really delivers
 * it (mapped, NAT64); the dead transition forms (compatible, 6to4, Teredo) are refused whatever they carry.
 */
function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  if (!ipaddr.isValid(address)) return false;
  let ip = ipaddr.parse(address);
  if (ip.kind() === 'ipv6') {
    const v6 = ip as ipaddr.IPv6;
    const range = v6.range();
    const [first = 0, second = 0, third = 0] = v6.parts;
    const wellKnownNat64 = first === 0x64 && second === 0xff9b && third === 0;
    if (range === 'ipv4Mapped' || (range === 'rfc6052' && wellKnownNat64)) {
      ip = new ipaddr.IPv4(v6.toByteArray().slice(12));
    } else if (range === 'unicast' && (first & 0xe000) !== 0x2000) {
      // ipaddr.js calls every unassigned block unicast, ::/96 too; global unicast is 2000::/3 (RFC 4291, 2.4).
      return false;
    }
  }
  // Without the zone of a link-local address, which `toString` would carry.
  const canonical = ip.kind() === 'ipv6' ? new ipaddr.IPv6((ip as ipaddr.IPv6).parts).toString() : ip.toString();
  if (METADATA_ADDRESSES.has(canonical)) return false;
  const range: string = ip.range();
  return range === 'unicast' || (allowPrivate && PRIVATE_RANGES.has(range));
}

function notPublic(host: string): OutgoingRefused {
  return new OutgoingRefused(`${host} does not lead to an address that this service may call. Use a public address.`);
}

/** Host name of a URL without the brackets of an IPv6 literal. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
}

/**
 * Parses an address and refuses what needs no look-up to be refused: other schemes, credentials, ports of other protocols, IP
 * literals outside the allowed ranges in any spelling (WHATWG parsing makes `0x7f.1` and full-width digits one form first).
 */
export function checkUrl(input: string | URL, allowPrivate: boolean, base?: URL): URL {
  const url = URL.parse(String(input), base?.href);
  if (url === null) throw new OutgoingRefused('The address is not a valid URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutgoingRefused('The address must begin with http:// or https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutgoingRefused('The address must not carry a user name or password. Send credentials in a header.');
  }
  if (url.port !== '' && REFUSED_PORTS.has(Number(url.port))) {
    throw new OutgoingRefused(`Port ${url.port} is not used for HTTP.`);
  }
  const host = bareHost(url.hostname);
  if (net.isIP(host) !== 0) {
    if (!isAllowedAddress(host, allowPrivate)) throw notPublic(host);
  } else if (!allowPrivate && /(^|\.)localhost\.?$/.test(host)) {
    throw notPublic(host);
  }
  url.hash = '';
  return url;
}

/** A look-up whose addresses will be connected to. */
export interface CheckedLookup extends LookupCall {
  allowPrivateNetwork: boolean;
}

/**
 * The addresses to connect to for a host, every one of them checked: one forbidden address refuses the host, since which
 * one a connection ends at is not ours to choose. The caller must connect to these and not resolve again. Throws OutgoingRefused,
 * OutgoingFailed, or the signal's reason.
 */
export async function resolveChecked(host: string, call: CheckedLookup, lookup: Lookup): Promise<ResolvedAddress[]> {
  const family = net.isIP(host);
  let addresses: ResolvedAddress[];
  try {
    addresses = family === 0 ? await lookup(host, call) : [{ address: host, family }];
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof OutgoingFailed) throw error;
    throw new OutgoingFailed('dns', `The host name ${host} could not be resolved.`, error);
  }
  if (addresses.length === 0) throw new OutgoingFailed('dns', `The host name ${host} has no address.`);
  if (!addresses.every(({ address }) => isAllowedAddress(address, call.allowPrivateNetwork))) throw notPublic(host);
  return addresses;
}
