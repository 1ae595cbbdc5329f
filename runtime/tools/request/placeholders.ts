import { ToolFailure } from '../failure.ts';

/** `{{input.x}}` or `{{secret.x}}`. */
export interface Placeholder {
  source: 'input' | 'secret';
  name: string;
}

/** A text split at its placeholders. */
export type Template = (string | Placeholder)[];

/** The values of the placeholders in one run. */
export interface Values {
  input: Readonly<Record<string, unknown>>;
  secret: Readonly<Record<string, string>>;
}

const PLACEHOLDER = /\{\{\s{0,8}(input|secret)\.([^{}\s]{1,200})\s{0,8}\}\}/g;

/** Splits a text at its placeholders. Other double braces are text. */
export function parseTemplate(text: string): Template {
  const template: Template = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (match.index > end) template.push(text.slice(end, match.index));
    template.push({ source: match[1] as Placeholder['source'], name: match[2] ?? '' });
    end = match.index + match[0].length;
  }
  if (end < text.length) template.push(text.slice(end));
  return template;
}

/** The placeholders of a text. */
export function placeholdersIn(text: string): Placeholder[] {
  return parseTemplate(text).filter((part) => typeof part !== 'string');
}

/** The placeholder of a text that is one placeholder and nothing else; undefined for any other text. */
export function onlyPlaceholder(template: Template): Placeholder | undefined {
  const [only] = template;
  return template.length === 1 && typeof only === 'object' ? only : undefined;
}

/** The placeholder as the configuration has it. */
export function written({ source, name }: Placeholder): string {
  return `{{${source}.${name}}}`;
}

/** The value of a placeholder; undefined when the input was left out. Throws ToolFailure when there is no such secret. */
export function resolve(placeholder: Placeholder, values: Values): unknown {
  const { source, name } = placeholder;
  const known = values[source];
  if (Object.hasOwn(known, name)) return known[name];
  if (source === 'secret') throw new ToolFailure(`The tool has no secret ${name}.`);
  return undefined;
}

/** A value as part of a text: text as it is, '' for null and undefined, other values as JSON. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The text with every placeholder replaced by its value, which `encode` escapes for its place. */
export function fill(template: Template, values: Values, encode: (text: string) => string = (text) => text): string {
  return template.map((part) => (typeof part === 'string' ? part : encode(asText(resolve(part, values))))).join('');
}

/** Percent-encodes everything that is not unreserved (RFC 3986, 2.3), as path segments and query values need it. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
