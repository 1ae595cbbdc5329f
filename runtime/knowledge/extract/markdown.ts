import { inlineText, type MarkdownBlock, markdownBlocks, markdownLines } from '../../../core/markdown.ts';
import type { Block } from './blocks.ts';
import { decodeText } from './encoding.ts';

/** Characters that are parsed at once. The tokens of a text take seventy times its memory. */
const PIECE_CHARS = 64 * 1024;
/** A block with more characters, such as a list of thousands of items, is read in several parts. */
const MAX_PIECE_CHARS = 4 * PIECE_CHARS;
/** More of a heading is not shown anywhere. */
const MAX_HEADING_CHARS = 300;

/** Reads the structure of Markdown: headings, tables, and paragraphs with their marks. */
export function* readMarkdown(content: Uint8Array): Generator<Block> {
  const lines = markdownLines(decodeText(content));
  let from = yield* frontMatter(lines);
  let pieceChars = PIECE_CHARS;
  while (from < lines.length) {
    const piece = linesFrom(lines, from, pieceChars);
    const blocks = markdownBlocks(piece);
    const isLastPiece = from + piece.length === lines.length;
    const last = blocks.at(-1);
    if (isLastPiece || last === undefined || (blocks.length === 1 && pieceChars >= MAX_PIECE_CHARS)) {
      yield* blocks.flatMap((block) => passageBlocks(block, piece));
      from += piece.length;
    } else if (blocks.length === 1) {
      pieceChars *= 2;
    } else {
      // The last block may not be complete: it is read again with the next piece.
      yield* blocks.slice(0, -1).flatMap((block) => passageBlocks(block, piece));
      from += last.firstLine;
      pieceChars = PIECE_CHARS;
    }
  }
}

/** The lines from `from` on that have about so many characters together; at least one. */
function linesFrom(lines: readonly string[], from: number, chars: number): string[] {
  let end = from;
  for (let left = chars; end < lines.length && left > 0; end += 1) left -= (lines[end]?.length ?? 0) + 1;
  return lines.slice(from, end);
}

/** A block as passages are made of: a table becomes its rows, lists and quotations are cut at blank lines outside of code. */
function passageBlocks(block: MarkdownBlock, allLines: readonly string[]): Block[] {
  const lines = allLines.slice(block.firstLine, block.endLine);
  switch (block.kind) {
    case 'rule':
      return [];
    case 'heading': {
      const text = inlineText((block.content ?? '').slice(0, MAX_HEADING_CHARS)).trim();
      return [{ type: 'heading', level: block.level ?? 1, text }];
    }
    case 'table':
      return tableRows(lines);
    case 'list':
    case 'quote': {
      const inCode = (line: number) => block.fences.some(([start, end]) => line >= start && line < end);
      return paragraphs(lines, (line) => inCode(line + block.firstLine));
    }
    default:
      return [{ type: 'paragraph', text: lines.join('\n') }];
  }
}

/** Rows below the line of dashes have the names of the columns, which are above it. */
function tableRows(lines: readonly string[]): Block[] {
  const [names = '', dashes, ...rows] = lines.map((line) => line.trim());
  const head = [names, dashes ?? ''].filter((line) => line !== '');
  return [
    ...head.map((text): Block => ({ type: 'row', text })),
    ...rows.map((text): Block => ({ type: 'row', text, header: names })),
  ];
}

function paragraphs(lines: readonly string[], keepsBlank: (line: number) => boolean): Block[] {
  const found: string[][] = [[]];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' && !keepsBlank(index)) found.push([]);
    else found.at(-1)?.push(line);
  }
  return found.filter((each) => each.length > 0).map((each) => ({ type: 'paragraph', text: each.join('\n') }));
}

/** A block of settings between two `---` at the very beginning, which is no Markdown. Returns the number of its lines. */
function* frontMatter(lines: readonly string[]): Generator<Block, number> {
  if (lines[0]?.trimEnd() !== '---') return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return 0;
  const text = lines.slice(1, end).join('\n');
  if (text.trim() !== '') yield { type: 'paragraph', text };
  return end + 1;
}
