/** A LIKE pattern for rows that contain the text as it is written: what LIKE reads as a pattern is escaped. */
export function likeContains(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
