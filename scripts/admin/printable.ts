import { shorten } from '../../core/text.ts';

/** Control characters and those that reorder text: a model could use them to show an operator something else than there is. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Text of models, tools and users as it may go to a terminal: one line, with everything that moves the cursor escaped. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A JSON value in one line for people, cut to `max` characters; '' for none. */
export function shortJson(value: unknown, max: number): string {
  if (value === null || value === undefined) return '';
  return shorten(printable(JSON.stringify(value)), max);
}

/** An amount in US dollars. */
export function usd(amount: number): string {
  return `$${amount.toFixed(6)}`;
}
