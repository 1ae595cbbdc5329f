const MAX_SNIPPET = 200;

/** The beginning of a text on one line, for lists. */
export function snippetOf(text: string): string {
  const line = text
    .slice(0, 4 * MAX_SNIPPET)
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(line).slice(0, MAX_SNIPPET).join('');
}
