import type { Block } from './blocks.ts';

/** A line of a page. */
export interface Line {
  text: string;
  /** Height of its letters. */
  size: number;
  /** Distance of its base line from the bottom of the page. */
  y: number;
}

/** A line is a heading when its letters are larger than the text by this ratio, and it is no longer than this. */
const HEADING_RATIO = 1.15;
const MAX_HEADING_CHARS = 200;
const MAX_HEADING_LEVELS = 6;
/** Maximum distance between lines of a paragraph, in heights of letters. */
const PARAGRAPH_GAP = 1.7;
/** A first or last line that is the same on this share of the pages is a running title. */
const RUNNING_SHARE = 0.6;
const RUNNING_PAGES = 4;

const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Joins the lines of all pages to headings and paragraphs. Leaves out running titles and page numbers. */
export function* layOut(pages: readonly (readonly Line[])[]): Generator<Block> {
  const size = bodySize(pages);
  const levels = headingLevels(pages, size);
  const running = runningLines(pages, size);
  for (const [index, lines] of pages.entries()) {
    const edges = edgeLines(lines);
    let open: { block: Block; last: Line } | undefined;
    for (const line of lines) {
      if (running.has(edges.get(line) ?? '')) continue;
      const level = isHeading(line, size) ? levels.get(rounded(line.size)) : undefined;
      if (open && continues(open, line, level)) {
        open = { block: { ...open.block, text: joined(open.block.text, line.text) }, last: line };
        continue;
      }
      if (open) yield open.block;
      const page = index + 1;
      const block: Block =
        level === undefined
          ? { type: 'paragraph', text: line.text, page }
          : { type: 'heading', level, text: line.text, page };
      open = { block, last: line };
    }
    if (open) yield open.block;
  }
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}

/** Returns the most common size of letters. */
function bodySize(pages: readonly (readonly Line[])[]): number {
  const chars = new Map<number, number>();
  for (const { size, text } of pages.flat()) chars.set(rounded(size), (chars.get(rounded(size)) ?? 0) + text.length);
  let [most, found] = [0, 0];
  for (const [size, count] of chars) if (count > most) [most, found] = [count, size];
  return found;
}

function isHeading({ size, text }: Line, body: number): boolean {
  return body > 0 && size >= body * HEADING_RATIO && text.length <= MAX_HEADING_CHARS && /\p{L}/u.test(text);
}

function headingLevels(pages: readonly (readonly Line[])[], body: number): ReadonlyMap<number, number> {
  const sizes = new Set<number>();
  for (const line of pages.flat()) if (isHeading(line, body)) sizes.add(rounded(line.size));
  const ordered = [...sizes].sort((a, b) => b - a);
  return new Map(ordered.map((size, index) => [size, Math.min(index + 1, MAX_HEADING_LEVELS)]));
}

/** Returns the first and last lines of a page, with numbers replaced, so that page numbers do not matter. */
function edgeLines(page: readonly Line[]): Map<Line, string> {
  const ys = page.map(({ y }) => y).sort((a, b) => a - b);
  const keys = new Map<Line, string>();
  for (const line of page) {
    const place = line.y === ys.at(-1) ? 'top' : line.y === ys[0] ? 'bottom' : undefined;
    if (place) keys.set(line, `${place} ${line.text.replace(/\d+/g, '#')}`);
  }
  return keys;
}

/** Running titles and page numbers. */
function runningLines(pages: readonly (readonly Line[])[], body: number): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const page of pages) {
    const keys = new Set<string>();
    for (const [line, key] of edgeLines(page)) if (!isHeading(line, body)) keys.add(key);
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const enough = Math.max(RUNNING_PAGES, pages.length * RUNNING_SHARE);
  return new Set([...counts].filter(([, count]) => count >= enough).map(([key]) => key));
}

function continues({ block, last }: { block: Block; last: Line }, line: Line, level: number | undefined): boolean {
  if ((block.type === 'heading') !== (level !== undefined)) return false;
  if (level !== undefined) return block.level === level && block.text.length + line.text.length <= MAX_HEADING_CHARS;
  const gap = last.y - line.y;
  const alike = Math.abs(last.size - line.size) < 0.1 * last.size;
  return alike && gap >= 0 && gap <= PARAGRAPH_GAP * line.size;
}

/** Joins two lines of a paragraph. Removes a hyphen at the end of the first. */
function joined(text: string, next: string): string {
  if (text.endsWith('\u00ad')) return text.slice(0, -1) + next;
  if (/\p{Ll}[-\u2010]$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1) + next;
  const asian = CJK.test(text.at(-1) ?? '') && CJK.test(next[0] ?? '');
  return text + (asian ? '' : ' ') + next;
}
