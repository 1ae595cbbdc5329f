import { ToolFailure } from '../failure.ts';
import {
  asText,
  fill,
  onlyPlaceholder,
  parseTemplate,
  percentEncode,
  placeholdersIn,
  resolve,
  type Template,
  type Values,
} from './placeholders.ts';

/** Everything that would end a header or is no text: RFC 9110, 5.5, forbids all control characters but the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about.
const NOT_IN_HEADERS = /[\u0000-\u0008\u000A-\u001F\u007F]/;

/** Names of RFC 9110, 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a text can be the name of a header. */
export function isHeaderName(text: string): boolean {
  return HEADER_NAME.test(text);
}

/** Whether a text can be the value of a header. */
export function isHeaderValue(text: string): boolean {
  return !NOT_IN_HEADERS.test(text);
}

/** A text as header bytes: what is not ASCII goes out as UTF-8, each byte a character here. */
export function headerValue(text: string): string {
  return Buffer.from(text.trim(), 'utf8').toString('latin1');
}

/** The headers of a request. One that consists of an input that was left out is left out with it. */
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

const LEFT_OUT = Symbol('left out');

function fillJson(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const template = parseTemplate(value);
    const only = onlyPlaceholder(template);
    if (only === undefined) return fill(template, values);
    const found = resolve(only, values);
    return found === undefined ? LEFT_OUT : found;
  }
  if (Array.isArray(value)) {
    // A list keeps its places.
    return value.map((item) => fillJson(item, values)).map((item) => (item === LEFT_OUT ? null : item));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, fillJson(inner, values)] as const)
      .filter(([, inner]) => inner !== LEFT_OUT),
  );
}

/** Fills JSON that is written as text: inside a string of it a value is text, anywhere else it is JSON. */
function fillJsonText(template: Template, values: Values): string {
  let inString = false;
  return template
    .map((part) => {
      if (typeof part === 'string') {
        for (let at = 0; at < part.length; at += 1) {
          if (part[at] === '\\' && inString) at += 1;
          else if (part[at] === '"') inString = !inString;
        }
        return part;
      }
      const value = resolve(part, values) ?? null;
      return inString ? JSON.stringify(asText(value)).slice(1, -1) : JSON.stringify(value);
    })
    .join('');
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function fillText(text: string, mediaType: string, values: Values): string {
  const template = parseTemplate(text);
  if (/[/+]json$/.test(mediaType)) return fillJsonText(template, values);
  if (mediaType === 'application/x-www-form-urlencoded') return fill(template, values, percentEncode);
  if (/[/+](?:xml|html)$/.test(mediaType)) {
    return fill(template, values, (value) => value.replace(/[&<>"']/g, (char) => XML_ENTITIES[char] ?? char));
  }
  return fill(template, values);
}

/** The value of a header by its name in any case. */
function headerOf(headers: Readonly<Record<string, string>>, wanted: string): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/**
 * The body of a request, and the headers with its Content-Type. JSON is sent as application/json; a placeholder that is a
 * whole value of it keeps the type of the input. Text goes out as it is, each value made harmless for the Content-Type
 * that the headers give: text/plain when they give none.
 */
export function fillBody(
  body: unknown,
  headers: Readonly<Record<string, string>>,
  values: Values,
): { body: string; headers: Record<string, string> } {
  const given = headerOf(headers, 'content-type');
  const text = typeof body === 'string';
  const content = text
    ? fillText(body, (given ?? 'text/plain').split(';', 1)[0]?.trim().toLowerCase() ?? '', values)
    : JSON.stringify(fillJson(body, values));
  if (given !== undefined) return { body: content, headers: { ...headers } };
  const contentType = text ? 'text/plain; charset=utf-8' : 'application/json';
  return { body: content, headers: { ...headers, 'content-type': contentType } };
}

/** Whether a body carries a secret. */
export function carriesSecret(body: unknown): boolean {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? null);
  return placeholdersIn(text).some(({ source }) => source === 'secret');
}
