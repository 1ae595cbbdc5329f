import type { Block } from './blocks.ts';

/** A line of a page. */
export interface Line {
  text: string;
  /** Height of its letters. */
  size: number;
  /** Of its base, from the bottom of the page up. */
  y: number;
}

/** Larger than the text by this much, and no longer than this, is a heading. */
const HEADING_RATIO = 1.15;
const MAX_HEADING_CHARS = 200;
const MAX_HEADING_LEVELS = 6;
/** Lines of a paragraph are nearer to each other than this many letters' heights. */
const PARAGRAPH_GAP = 1.7;
/** The same first or last line on so many of the pages is printed there by the layout. */
const RUNNING_SHARE = 0.6;
const RUNNING_PAGES = 4;

const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Puts the lines of all pages together to headings and paragraphs; what stands on every page is left out. */
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

/** The size that most of the text has. */
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

/** The lines at the top and the bottom of a page by what they say, whatever numbers they hold. */
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

/** Two lines of a paragraph in one: a hyphen at the end of the line goes with the break. */
function joined(text: string, next: string): string {
  if (text.endsWith('\u00ad')) return text.slice(0, -1) + next;
  if (/\p{Ll}[-\u2010]$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1) + next;
  const asian = CJK.test(text.at(-1) ?? '') && CJK.test(next[0] ?? '');
  return text + (asian ? '' : ' ') + next;
}
