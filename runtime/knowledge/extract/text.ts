import type { Block } from './blocks.ts';
import { contentsLines } from './contents.ts';
import { decodeText } from './encoding.ts';
import { LineEnds } from './lineEnds.ts';
import { withoutPageEdges } from './textPages.ts';

/** An editor, not the author, broke lines of this length that are about as long as the longest line of their paragraph. */
const WRAPPED_FROM = 40;
const WRAPPED_TO = 120;
const WRAPPED_SHARE = 0.6;
/** Characters of a paragraph to which lines are added, and of those the last ones, on which the next line depends. */
const [MAX_OPEN, KEPT_OPEN] = [4_096, 128];

/** Reads plain text. Blank lines separate paragraphs. Leaves out the heads and feet of pages, and tables of contents. */
export function* readText(content: Uint8Array): Generator<Block> {
  const whole = withoutContents(withoutPageEdges(decodeText(content)));
  const ends = new LineEnds(linesOf(whole), false);
  for (const paragraph of whole.split(/(?:\r\n?|\n|\f)[^\S\r\n]*(?:\r\n?|\n|\f)\s*/)) {
    const text = unwrap(paragraph, ends);
    if (text !== '') yield { type: 'paragraph', text };
  }
}

/** The text without its tables of contents, or as it is when it is nothing else. */
function withoutContents(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  const contents = contentsLines(lines);
  if (contents.size === 0) return text;
  const rest = lines.map((line, at) => (contents.has(at) ? '' : line)).join('\n');
  return /\S/u.test(rest) ? rest : text;
}

/** The lines of a text, one at a time: a text of many megabytes is not held twice. */
function* linesOf(text: string): Generator<string> {
  for (const [line] of text.matchAll(/[^\r\n]+/g)) yield line;
}

/** Joins lines that were broken to fit a width. Keeps other line breaks. */
function unwrap(paragraph: string, ends: LineEnds): string {
  const lines = paragraph
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const wrapped = longest >= WRAPPED_FROM && longest <= WRAPPED_TO;
  const parts: string[] = [];
  let text = lines[0] ?? '';
  for (const [index, line] of lines.slice(1).entries()) {
    const isFull = wrapped && (lines[index]?.length ?? 0) >= longest * WRAPPED_SHARE;
    text = isFull ? ends.join(text, line) : `${text}\n${line}`;
    // Each look at its end would copy all of a long text.
    if (text.length > MAX_OPEN) {
      parts.push(text.slice(0, -KEPT_OPEN));
      text = text.slice(-KEPT_OPEN);
    }
  }
  return parts.join('') + text;
}
