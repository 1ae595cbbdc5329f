import type { Block } from './blocks.ts';
import { decodeText } from './encoding.ts';

/** Lines this long, and not much shorter than the longest of their paragraph, were broken by an editor and not by the author. */
const WRAPPED_FROM = 40;
const WRAPPED_TO = 120;
const WRAPPED_SHARE = 0.6;

/** Plain text: paragraphs are set apart by blank lines. */
export function* readText(content: Uint8Array): Generator<Block> {
  for (const paragraph of decodeText(content).split(/(?:\r\n?|\n|\f)[^\S\r\n]*(?:\r\n?|\n|\f)\s*/)) {
    const text = unwrap(paragraph);
    if (text !== '') yield { type: 'paragraph', text };
  }
}

/** A paragraph whose lines were broken to fit a width, in one line; other line breaks stay. */
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
