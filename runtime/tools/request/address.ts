import { domainToASCII } from 'node:url';
import type { ErrorDetail } from '../../../core/errors.ts';
import { faultAt } from '../../../core/faults.ts';
import { ToolFailure } from '../failure.ts';
import {
  asText,
  fill,
  onlyPlaceholder,
  parseTemplate,
  percentEncode,
  resolve,
  type Template,
  type Values,
  written,
} from './placeholders.ts';

/**
 * A URL with placeholders, split after its origin. Only a value in the origin can decide which server gets the request: in the
 * rest every value is percent-encoded.
 */
interface AddressTemplate {
  /** `https://host:port`, or one placeholder for an address, which may end with the first part of the path. */
  origin: Template;
  rest: Template;
}

/** Characters of a host and a port. Letters of any script are allowed, since hosts can have international names. */
const HOST_TEXT = /^[\p{L}\p{M}\p{N}.:_[\]-]+$/u;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

function split(template: Template): AddressTemplate | undefined {
  const [first, next] = template;
  if (typeof first === 'object') {
    const free = next === undefined || (typeof next === 'string' && /^[/?#]/.test(next));
    return free ? { origin: [first], rest: template.slice(1) } : undefined;
  }
  const scheme = /^https?:\/\//i.exec(first ?? '')?.[0];
  if (scheme === undefined) return undefined;
  for (const [index, part] of template.entries()) {
    if (typeof part !== 'string') continue;
    const from = index === 0 ? scheme.length : 0;
    const found = part.slice(from).search(/[/?#\\]/);
    if (found < 0) continue;
    const at = from + found;
    return {
      origin: [...template.slice(0, index), part.slice(0, at)].filter((each) => each !== ''),
      rest: [part.slice(at), ...template.slice(index + 1)],
    };
  }
  return { origin: template, rest: [] };
}

/** What is wrong with the URL of a configuration. A tool that `hasSecrets` must not take its host from an input. */
export function addressFaults(url: string, path: string, hasSecrets: boolean): ErrorDetail[] {
  const template = parseTemplate(url);
  const stray = template.some((part) => typeof part === 'string' && /\{\{|\}\}/.test(part));
  if (stray) return [faultAt(path, 'may have only {{input.x}} and {{secret.x}} in double braces', 'placeholder')];
  const address = split(template);
  if (address === undefined) return [faultAt(path, 'must begin with http:// or https://', 'format')];
  const input = address.origin.find((part) => typeof part === 'object' && part.source === 'input');
  if (hasSecrets && typeof input === 'object') {
    return [
      faultAt(
        path,
        `must not take its host from ${written(input)}: the secrets would go where the input says`,
        'origin',
      ),
    ];
  }
  const sample = (parts: Template) => parts.map((part) => (typeof part === 'string' ? part : '1')).join('');
  const origin = typeof address.origin[0] === 'object' ? 'http://1' : sample(address.origin);
  const rest = sample(address.rest);
  const parsed = URL.parse(origin + rest);
  // URL parsers drop line breaks and tabs. What follows them could become the host: `https://\t/{{input.x}}`.
  if (parsed === null || !sameOrigin(origin, parsed) || /[\t\r\n]/.test(url)) {
    return [faultAt(path, 'must be a valid address', 'format')];
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return [
      faultAt(path, 'must not have a user name or password: send them in a header, from a secret', 'credentials'),
    ];
  }
  if (hasDotSegment(rest)) {
    return [faultAt(path, 'must not have . or .. as a segment of its path', 'format')];
  }
  return [];
}

/** Whether `whole`, an address that begins with `origin`, was parsed to the same origin. */
function sameOrigin(origin: string, whole: URL | null): boolean {
  return whole !== null && URL.parse(origin)?.origin === whole.origin;
}

function pathOf(rest: string): string {
  return rest.split(/[?#]/, 1)[0] ?? '';
}

/** Whether a path has the segment `.` or `..`, percent-encoded or not. A parser would remove it, `..` with the segment before. */
export function hasDotSegment(path: string): boolean {
  return pathOf(path)
    .split(/[/\\]/)
    .some((segment) => DOT_SEGMENT.test(segment));
}

/** The URL of a request. Throws ToolFailure when a value does not fit its place, or when a value of the path is missing. */
export function fillAddress(url: string, values: Values): string {
  const address = split(parseTemplate(url));
  if (address === undefined) throw new ToolFailure('The address of the tool is not valid.');
  const origin = address.origin.map((part, index) => {
    if (typeof part === 'string') return part;
    const text = asText(resolve(part, values));
    const whole = index === 0;
    if (whole ? !/^https?:\/\//i.test(text) : !HOST_TEXT.test(text)) {
      const wanted = whole ? 'be an http or https address' : 'be the host of an address';
      throw new ToolFailure(`${written(part)} must ${wanted}.`);
    }
    return whole && String(address.rest[0] ?? '').startsWith('/') ? text.replace(/(?<!\/)\/+$/, '') : text;
  });
  let inPath = true;
  const rest = address.rest.map((part) => {
    if (typeof part === 'string') {
      inPath &&= !/[?#]/.test(part);
      return part;
    }
    const text = asText(resolve(part, values));
    // Without its value `/orders/{id}` becomes `/orders/`, which may mean all orders.
    if (inPath && text === '') throw new ToolFailure(`${written(part)} must have a value, since the path needs it.`);
    return percentEncode(text);
  });
  if (hasDotSegment(rest.join(''))) throw new ToolFailure('A segment of the path must not be . or ..');
  const [filled = ''] = (origin.join('') + rest.join('')).split('#', 1);
  if (!sameOrigin(origin.join(''), URL.parse(filled))) {
    throw new ToolFailure('The address of the tool is not valid with these inputs.');
  }
  return filled;
}

/**
 * The origin that a request with secrets goes to, whatever the inputs are: an address with secrets takes no part of its origin from an
 * input. The written form where that is no valid address.
 */
export function secretOrigin(url: string, secret: Values['secret']): string {
  const parts = split(parseTemplate(url))?.origin ?? [url];
  const text = parts.map((part) => (typeof part === 'string' ? part : (secret[part.name] ?? written(part)))).join('');
  return URL.parse(text)?.origin ?? text;
}

/**
 * The host that an address has by a secret in it, as a URL parser, a server and error messages write it: in lower case, and in ASCII. And the
 * secret itself in these forms. Empty when no part of the host is a secret, and when the whole address is one.
 */
export function secretHosts(url: string, secret: Values['secret']): string[] {
  const [first, ...others] = split(parseTemplate(url))?.origin ?? [];
  if (typeof first !== 'string') return [];
  const values = others.flatMap((part) => (typeof part === 'object' ? [secret[part.name] ?? ''] : []));
  if (values.length === 0) return [];
  const parsed = URL.parse(secretOrigin(url, secret));
  return [
    ...(parsed ? [parsed.host, parsed.hostname] : []),
    ...values.flatMap((each) => [each.toLowerCase(), domainToASCII(each)]),
  ];
}

/**
 * The URL with further query parameters. A parameter that is one placeholder and nothing else is left out with its input; a
 * list gives one parameter for each item.
 */
export function addQuery(url: string, query: Readonly<Record<string, string>>, values: Values): string {
  const pairs: string[] = [];
  for (const [name, text] of Object.entries(query)) {
    const template = parseTemplate(text);
    const only = onlyPlaceholder(template);
    const value = only === undefined ? fill(template, values) : resolve(only, values);
    if (value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      pairs.push(`${percentEncode(name)}=${percentEncode(asText(item))}`);
    }
  }
  if (pairs.length === 0) return url;
  return url + (url.includes('?') ? '&' : '?') + pairs.join('&');
}
