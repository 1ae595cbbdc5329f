import type { Block } from './blocks.ts';
import { contentsLines } from './contents.ts';
import { runningLines } from './runningLines.ts';
import { isFragment } from './texText.ts';

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
/** So many lines of one or two letters one after the other are labels of a drawing or cells of a table. */
const MIN_FRAGMENTS = 3;

const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Joins the lines of all pages to headings and paragraphs. Leaves out running titles, page numbers, tables of contents and fragments. */
export function* layOut(read: readonly (readonly Line[])[]): Generator<Block> {
  const pages = withoutFurniture(read);
  const size = bodySize(pages);
  const levels = headingLevels(pages, size);
  for (const [index, lines] of pages.entries()) {
    let open: { block: Block; last: Line } | undefined;
    for (const line of lines) {
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

/** The pages without what is not their text. When nothing else is there, they are left as they are. */
function withoutFurniture(read: readonly (readonly Line[])[]): readonly (readonly Line[])[] {
  const size = bodySize(read);
  const running = runningLines(read, (line) => isHeading(line, size));
  const kept = read.map((lines) => withoutFragments(lines.filter((line) => !running.has(line))));
  // Over all pages, since a table of contents goes on from page to page.
  const all = kept.flat();
  const contents = new Set([...contentsLines(all.map(({ text }) => text))].map((at) => all[at]));
  const pages = kept.map((lines) => lines.filter((line) => !contents.has(line)));
  return pages.some((lines) => lines.length > 0) ? pages : read;
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

/** The lines of a page without those that say nothing by themselves. */
function withoutFragments(lines: readonly Line[]): readonly Line[] {
  const dropped = new Set<Line>();
  let run: Line[] = [];
  const end = () => {
    if (run.length >= MIN_FRAGMENTS) for (const line of run) dropped.add(line);
    run = [];
  };
  for (const line of lines) {
    if (isFragment(line.text)) run.push(line);
    else end();
  }
  end();
  return dropped.size === 0 ? lines : lines.filter((line) => !dropped.has(line));
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
