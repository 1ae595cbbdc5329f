import type { Block } from './blocks.ts';
import { decodeText } from './encoding.ts';

/** An editor, not the author, broke lines of this length that are about as long as the longest line of their paragraph. */
const WRAPPED_FROM = 40;
const WRAPPED_TO = 120;
const WRAPPED_SHARE = 0.6;

/** Reads plain text. Blank lines separate paragraphs. */
export function* readText(content: Uint8Array): Generator<Block> {
  for (const paragraph of decodeText(content).split(/(?:\r\n?|\n|\f)[^\S\r\n]*(?:\r\n?|\n|\f)\s*/)) {
    const text = unwrap(paragraph);
    if (text !== '') yield { type: 'paragraph', text };
  }
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
