import { shorten } from '../../core/text.ts';

/** Control characters and characters that reorder text: a model could use them to hide its real output from an operator. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Makes text of models, tools and users safe for a terminal: one line, with characters that move the cursor escaped. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A JSON value on one line for people, cut to `max` characters; '' for null and undefined. */
export function shortJson(value: unknown, max: number): string {
  if (value === null || value === undefined) return '';
  return shorten(printable(JSON.stringify(value)), max);
}

/** An amount in US dollars. */
export function usd(amount: number): string {
  return `$${amount.toFixed(6)}`;
}

/** As `printable`, but lines and tabs stay. Each line begins with `indent`, so that no text looks like what is printed around it. */
export function printableLines(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) => indent + line.split('\t').map(printable).join('\t'))
    .join('\n');
}
