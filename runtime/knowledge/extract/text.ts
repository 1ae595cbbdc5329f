import type { Block } from './blocks.ts';
import { contentsLines } from './contents.ts';
import { decodeText } from './encoding.ts';

/** An editor, not the author, broke lines of this length that are about as long as the longest line of their paragraph. */
const WRAPPED_FROM = 40;
const WRAPPED_TO = 120;
const WRAPPED_SHARE = 0.6;

/** Reads plain text. Blank lines separate paragraphs. Leaves out tables of contents. */
export function* readText(content: Uint8Array): Generator<Block> {
  for (const paragraph of withoutContents(decodeText(content)).split(/(?:\r\n?|\n|\f)[^\S\r\n]*(?:\r\n?|\n|\f)\s*/)) {
    const text = unwrap(paragraph);
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

/** Joins lines that were broken to fit a width. Keeps other line breaks. */
export function unwrap(paragraph: string): string {
  const lines = paragraph
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const wrapped = longest >= WRAPPED_FROM && longest <= WRAPPED_TO;
  return lines
    .map((line, index) => {
      if (index === lines.length - 1) return line;
      return line + (wrapped && line.length >= longest * WRAPPED_SHARE ? ' ' : '\n');
    })
    .join('');
}
