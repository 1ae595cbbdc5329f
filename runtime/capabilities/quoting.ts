import { escapeXml, shorten } from '../../core/text.ts';

/* For text in a prompt that somebody else wrote: it must not leave its place or change the structure of the prompt. */

/** The beginnings of opening and closing tags that quote a text, also with invisible characters in them. */
const TAGS = {
  passage: /<(?=[\s\p{Cc}\p{Cf}/]*passage)/giu,
  event: /<(?=[\s\p{Cc}\p{Cf}/]*event)/giu,
  turn_context: /<(?=[\s\p{Cc}\p{Cf}/]*turn_context)/giu,
};

/** Says where the text beside a message is (prompt/beside.ts). It ends a sentence that a fixed section begins. */
export const STANDS_BESIDE = 'stand after what the user wrote, in `<turn_context>`, which only the service can write.';
/** A Markdown heading of any level. */
const HEADING = /^([^\S\n\r\u2028\u2029]*)(?=#{1,6}(?:\s|$))/gm;
/** Characters at which some readers break lines, other than the usual line breaks. */
const RARE_BREAKS = /[\v\f\u0085]/g;

/**
 * Escapes a text of several lines for a prompt, where it stands in an element of the name `tag`: `<` before that name or `/` and the name
 * becomes `&lt;`, and a line that begins like a Markdown heading gets a backslash before its first `#`. Nothing else changes, so that code
 * and tables stay as they are.
 */
export function quoted(text: string, tag: keyof typeof TAGS = 'passage'): string {
  return text.toWellFormed().replace(RARE_BREAKS, '\n').replace(TAGS[tag], '&lt;').replace(HEADING, '$1\\');
}

/** A text of a person, which may neither open nor close what the service puts beside a message. */
export function withoutTurnContext(text: string): string {
  return text.replace(TAGS.turn_context, '&lt;');
}

/** A text as one line of at most `max` characters: each run of white space and control characters becomes a space. */
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
