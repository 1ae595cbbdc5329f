import { type MarkdownBlock, markdownBlocks, markdownLines } from '../../core/markdown.ts';

/** A stretch of a text in Markdown, by its offsets; `end` is behind its last character. */
export interface ReplyBlock {
  kind: Exclude<MarkdownBlock['kind'], 'rule'>;
  start: number;
  end: number;
  /** A blank line stands before it. */
  apart: boolean;
}

/** Not Markdown, but models write lists with it. */
const BULLET = /^\s*•\s+\S/;

/** Returns the outermost blocks of a text, in order. Indented code belongs to the block above it, as models often only indent text. */
export function replyBlocks(text: string): ReplyBlock[] {
  const lines = markdownLines(text);
  const starts = lineStarts(text);
  const blocks: ReplyBlock[] = [];
  for (const block of markdownBlocks(lines)) {
    const { firstLine, endLine } = block;
    const last = blocks.at(-1);
    const end = (starts[endLine - 1] ?? 0) + (lines[endLine - 1]?.length ?? 0);
    if (last && block.kind === 'code' && block.fences.length === 0) {
      last.end = end;
      continue;
    }
    const apart = firstLine > 0 && lines[firstLine - 1]?.trim() === '';
    blocks.push({ kind: kindOf(block, lines[firstLine] ?? ''), start: starts[firstLine] ?? 0, end, apart });
  }
  return blocks;
}

function kindOf({ kind }: MarkdownBlock, firstLine: string): ReplyBlock['kind'] {
  if (kind === 'rule') return 'paragraph';
  return kind === 'paragraph' && BULLET.test(firstLine) ? 'list' : kind;
}

/** The offset of each line of markdownLines. */
function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n?|\n/g), ({ 0: lineEnd, index }) => index + lineEnd.length)];
}
