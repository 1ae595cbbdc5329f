import type { Block } from './blocks.ts';
import { contentsLines } from './contents.ts';
import { goesOn, LineEnds } from './lineEnds.ts';
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

/** Letters of a footnote, by the size of the text. */
const NOTE_RATIO = 0.92;
/** A line that stands so many lines above the one before it begins a column. */
const MIN_COLUMN_LINES = 5;
/** Notes at the foot of a column. */
const MAX_NOTES_BETWEEN = 20;
const BULLET = /^[•◦▪‣●○■] ?/u;

/** A block, with its first line and its last. */
interface OpenBlock {
  block: Block;
  first: Line;
  last: Line;
}

/**
 * Joins the lines of all pages to headings and paragraphs. Leaves out running titles, page numbers, tables of contents and fragments. A paragraph
 * that ends in the middle of a sentence goes on on the next page, also over footnotes.
 */
export function* layOut(read: readonly (readonly Line[])[]): Generator<Block> {
  const pages = withoutFurniture(read);
  const size = bodySize(pages);
  const levels = headingLevels(pages, size);
  const ends = new LineEnds(texts(pages), true);
  let before: OpenBlock[] = [];
  for (const [index, lines] of pages.entries()) {
    const blocks = blocksOf(lines, index + 1, ends, size * NOTE_RATIO, (line) =>
      isHeading(line, size) ? levels.get(rounded(line.size)) : undefined,
    );
    const open = before.findLast(({ block, last }) => block.type === 'heading' || last.size >= size * NOTE_RATIO);
    const [first] = blocks;
    if (open && first && isRest(open, first)) {
      open.block = { ...open.block, text: ends.join(open.block.text, first.block.text) };
      open.last = first.last;
      blocks.shift();
      // A page may have nothing else.
      if (blocks.length === 0) continue;
    }
    for (const { block } of before) yield block;
    before = blocks;
  }
  for (const { block } of before) yield block;
}

function* texts(pages: readonly (readonly Line[])[]): Generator<string> {
  for (const lines of pages) for (const { text } of lines) yield text;
}

function blocksOf(
  lines: readonly Line[],
  page: number,
  ends: LineEnds,
  noteSize: number,
  levelOf: (line: Line) => number | undefined,
): OpenBlock[] {
  const blocks: OpenBlock[] = [];
  for (const line of lines) {
    const level = levelOf(line);
    const open = blocks.at(-1);
    if (open && continues(open, line, level)) {
      open.block = { ...open.block, text: ends.join(open.block.text, line.text) };
      open.last = line;
      continue;
    }
    const above = level === undefined ? columnBefore(blocks, line, noteSize) : undefined;
    if (above) {
      above.block = { ...above.block, text: ends.join(above.block.text, line.text) };
      above.last = line;
      // What follows goes on with it, and not with the notes.
      if (above !== open) blocks.push(...blocks.splice(blocks.lastIndexOf(above), 1));
      continue;
    }
    const block: Block =
      level === undefined
        ? { type: 'paragraph', text: line.text, page }
        : { type: 'heading', level, text: line.text, page };
    blocks.push({ block, first: line, last: line });
  }
  return blocks;
}

/** The paragraph that a line at the top of the next column goes on with; notes may stand between the two. */
function columnBefore(blocks: readonly OpenBlock[], line: Line, noteSize: number): OpenBlock | undefined {
  const below = blocks.at(-1);
  if (!below || line.y - below.last.y < MIN_COLUMN_LINES * line.size) return undefined;
  const near = blocks.slice(-MAX_NOTES_BETWEEN - 1);
  const open = near.findLast(({ block, last }) => block.type === 'heading' || last.size >= noteSize);
  if (!open || open.block.type === 'heading') return undefined;
  return areAlike(open.last, line) && goesOn(open.last.text, line.text) ? open : undefined;
}

/** Whether the first block of a page is the rest of the last paragraph before it. */
function isRest(open: OpenBlock, next: OpenBlock): boolean {
  if (open.block.type === 'heading' || next.block.type === 'heading') return false;
  return areAlike(open.last, next.first) && goesOn(open.last.text, next.first.text);
}

function areAlike(one: Line, other: Line): boolean {
  return Math.abs(one.size - other.size) < 0.1 * one.size;
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

function continues({ block, last }: OpenBlock, line: Line, level: number | undefined): boolean {
  if ((block.type === 'heading') !== (level !== undefined)) return false;
  if (level !== undefined) return block.level === level && block.text.length + line.text.length <= MAX_HEADING_CHARS;
  const gap = last.y - line.y;
  return areAlike(last, line) && gap >= 0 && gap <= PARAGRAPH_GAP * line.size && !BULLET.test(line.text);
}
