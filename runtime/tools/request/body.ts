import { escapeXml } from '../../../core/text.ts';
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
    // An item that is left out becomes null, so that the others keep their positions.
    return value.map((item) => fillJson(item, values)).map((item) => (item === LEFT_OUT ? null : item));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, fillJson(inner, values)] as const)
      .filter(([, inner]) => inner !== LEFT_OUT),
  );
}

/** Fills JSON that is written as text. Inside a JSON string a value is text; anywhere else it is JSON. */
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

function fillText(text: string, mediaType: string, values: Values): string {
  const template = parseTemplate(text);
  if (/[/+]json$/.test(mediaType)) return fillJsonText(template, values);
  if (mediaType === 'application/x-www-form-urlencoded') return fill(template, values, percentEncode);
  if (/[/+](?:xml|html)$/.test(mediaType)) {
    // An attribute may stand in single quotes too.
    return fill(template, values, (value) => escapeXml(value).replaceAll("'", '&apos;'));
  }
  return fill(template, values);
}

/** The value of a header; `wanted` is its name in lower case. */
function headerOf(headers: Readonly<Record<string, string>>, wanted: string): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/**
 * The body of a request, and the headers with its Content-Type. JSON is sent as application/json; a placeholder that is a
 * whole JSON value keeps the type of the input. Text is sent as text/plain unless the headers have another Content-Type, and
 * each value is escaped for that type.
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

/** Whether a body has a placeholder for a secret. */
export function carriesSecret(body: unknown): boolean {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? null);
  return placeholdersIn(text).some(({ source }) => source === 'secret');
}
