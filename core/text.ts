/**
 * PostgreSQL stores neither NUL nor half of a surrogate pair. Lengths here are counted in UTF-16 units, as `length` of a string is.
 */

/** Whether PostgreSQL stores the text and returns it unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The text as PostgreSQL can store it: `nul` in place of each NUL, U+FFFD in place of each half of a surrogate pair. */
export function toStorable(text: string, nul = ''): string {
  return text.replaceAll('\0', nul).toWellFormed();
}

/** The first `max` characters of the text, well-formed. A surrogate pair across the end is left out as a whole. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const isPairCut = (text.charCodeAt(max - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isPairCut ? max - 1 : max).toWellFormed();
}

/** The text if it has at most `max` characters, else its beginning and `…`, together at most `max` characters. Well-formed. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text.toWellFormed() : `${cutText(text, max - 1).trimEnd()}…`;
}

/** What `shorten` makes of the text as PostgreSQL can store it. Of a long text only the beginning is read. */
export function shortenStorable(text: string, max: number): string {
  const isLong = text.length > 2 * max;
  return shorten(toStorable(isLong ? `${text.slice(0, 2 * max)}…` : text), max);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const CHARACTERS = Object.fromEntries(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]));

/** The text as the content of an element, or as the value of an attribute in double quotes, in XML and HTML. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** The reverse of `escapeXml`. Other entities stay as they are. */
export function unescapeXml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => CHARACTERS[entity] ?? entity);
}
