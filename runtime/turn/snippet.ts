const SNIPPET_LENGTH = 200;

/** The beginning of a text on one line, for lists. */
export function snippetOf(text: string): string {
  const line = text
    .slice(0, 4 * SNIPPET_LENGTH)
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(line).slice(0, SNIPPET_LENGTH).join('');
}
