import names from './reservedSubdomains.json' with { type: 'json' };

const NAMES: ReadonlySet<string> = new Set(names);

/**
 * Whether no hub may have this subdomain: the service or its mail may need it, or visitors would take it for the service itself
 * (`reservedSubdomains.json`). Labels with hyphens at the third and fourth place are reserved by RFC 5891, 4.2.3.1: as Punycode they look
 * like other names. `name` is in lower case.
 */
export function isReservedSubdomain(name: string): boolean {
  return NAMES.has(name) || name.slice(2, 4) === '--';
}
