import type { ErrorDetail } from '../../../core/errors.ts';
import { faultAt } from '../../../core/faults.ts';
import { isOwnedByHttp } from '../../../core/outgoing.ts';
import { ToolFailure } from '../failure.ts';
import { fill, onlyPlaceholder, parseTemplate, placeholdersIn, resolve, type Values } from './placeholders.ts';

/** Characters that a header value must not have: RFC 9110, 5.5, forbids all control characters but the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern has to name control characters.
const NOT_IN_HEADERS = /[\u0000-\u0008\u000A-\u001F\u007F]/;

/** The syntax of a header name (RFC 9110, 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a text may be the name of a header. */
export function isHeaderName(text: string): boolean {
  return HEADER_NAME.test(text);
}

/** Whether a text may be the value of a header. */
export function isHeaderValue(text: string): boolean {
  return !NOT_IN_HEADERS.test(text);
}

/** A text as the value of a header. Characters beyond ASCII are sent as UTF-8: each byte is one character of the result. */
export function headerValue(text: string): string {
  return Buffer.from(text.trim(), 'utf8').toString('latin1');
}

/**
 * The headers of a request. A header that is one placeholder and nothing else is left out with its input.
 * @throws {ToolFailure} a value has line breaks or control characters
 */
export function fillHeaders(headers: Readonly<Record<string, string>>, values: Values): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const [name, text] of Object.entries(headers)) {
    const template = parseTemplate(text);
    const only = onlyPlaceholder(template);
    if (only !== undefined && (resolve(only, values) ?? null) === null) continue;
    const value = fill(template, values);
    if (!isHeaderValue(value))
      throw new ToolFailure(`The header ${name} must not have line breaks or control characters.`);
    filled[name] = headerValue(value);
  }
  return filled;
}

/** The names of the headers that have a secret in their value. */
export function secretHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.keys(headers).filter((name) =>
    placeholdersIn(headers[name] ?? '').some(({ source }) => source === 'secret'),
  );
}

/** What is wrong with the name of a header in a configuration. */
export function headerNameFault(name: string, path: string): ErrorDetail[] {
  if (!isHeaderName(name)) return [faultAt(path, 'must be the name of a header', 'format')];
  if (isOwnedByHttp(name)) return [faultAt(path, 'is set by HTTP itself and cannot be given', 'format')];
  return [];
}
