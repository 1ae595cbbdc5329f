import { domainToASCII } from 'node:url';

/** One label: letters, digits and hyphens, no hyphen at either end (RFC 1035, 2.3.1; RFC 1123 allows a digit first). */
const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
/** At least two labels, of which the last one is no number: else it reads as an IPv4 address. */
const DOMAIN = new RegExp(`^(${LABEL}\\.)+(?=[a-z0-9-]*[a-z])${LABEL}$`);
/** Characters of a name without the dot at its end (RFC 1035, 2.3.4). */
const MAX_DOMAIN = 253;

/**
 * The domain that a text names, as browsers send it in `Host`: lower case, Punycode, no dot at its end. Undefined when it names none: an
 * IP address, a single label, a port, a wildcard.
 */
export function domainNameOf(text: string): string | undefined {
  // `domainToASCII` would stop reading at the first of these.
  if (text.length > MAX_DOMAIN * 4 || /[\s/\\?#@:]/.test(text)) return undefined;
  const domain = domainToASCII(text.replace(/\.$/, ''));
  return domain.length <= MAX_DOMAIN && DOMAIN.test(domain) ? domain : undefined;
}
