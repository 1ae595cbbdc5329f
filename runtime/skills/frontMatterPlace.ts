import { SKILL_LIMITS } from './limits.ts';

/** The first bytes of a file of a skill: enough for its front matter with both fences, and for its magic number. */
export const HEAD_BYTES = SKILL_LIMITS.frontMatterBytes + 1_024;

/**
 * Finds the YAML between the two lines of `---` at the start of a SKILL.md. `end` is the offset of the instructions behind it. `missing`:
 * the text does not begin with such a line. `unclosed`: no such line follows within the maximum size.
 */
export function findFrontMatter(head: string): { yaml: string; end: number } | 'missing' | 'unclosed' {
  const start = /^\uFEFF?---[ \t]*\r?\n/.exec(head)?.[0].length;
  if (start === undefined) return 'missing';
  const rest = head.slice(start);
  const closing = /^---[ \t]*\r?$[ \t\r\n\v\f]*/m.exec(rest);
  const yaml = rest.slice(0, closing?.index);
  if (!closing || Buffer.byteLength(yaml) > SKILL_LIMITS.frontMatterBytes) return 'unclosed';
  return { yaml, end: start + closing.index + closing[0].length };
}
