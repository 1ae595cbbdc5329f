import { escapeXml, shorten } from '../../core/text.ts';

/** Text in a prompt that somebody else wrote: it must stay where it is put, and be nothing but text there. */

/** The beginning of a tag of passages, opening or closing, also with invisible characters in it. */
const PASSAGE_TAG = /<(?=[\s\p{Cc}\p{Cf}/]*passage)/giu;
/** A Markdown heading of any level. */
const HEADING = /^([^\S\n\r\u2028\u2029]*)(?=#{1,6}(?:\s|$))/gm;
/** Characters other than line breaks that some readers break lines at. */
const RARE_BREAKS = /[\v\f\u0085]/g;

/**
 * A text of several lines as a prompt can quote it: `<` in front of `passage` or `/passage` becomes `&lt;`, and a line that
 * begins as a Markdown heading gets a backslash before its first `#`, as Markdown escapes it. Nothing else changes, so that code
 * and tables stay what they are.
 */
export function quoted(text: string): string {
  return text.toWellFormed().replace(RARE_BREAKS, '\n').replace(PASSAGE_TAG, '&lt;').replace(HEADING, '$1\\');
}

/** A text as one line: each run of white space and control characters becomes a space, what is beyond `max` characters `…`. */
export function oneLine(text: string, max: number = Number.POSITIVE_INFINITY): string {
  return shorten(
    text
      .toWellFormed()
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    max,
  );
}

/** A text as the value of an attribute in double quotes, on one line. */
export function attribute(text: string): string {
  return escapeXml(oneLine(text));
}
