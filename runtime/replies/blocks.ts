/** A stretch of a text in Markdown, by its offsets; `end` is behind its last character. */
export interface ReplyBlock {
  kind: 'paragraph' | 'heading' | 'list' | 'table' | 'quote' | 'code';
  start: number;
  end: number;
  /** A blank line stands before it. */
  apart: boolean;
}

// All for lines without the space around them.
const FENCE = /^(?:(?:[-*+•]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})/;
const ATX_HEADING = /^#{1,6}(?:\s|$)/;
const SETEXT_UNDERLINE = /^(?:=+|-{2,})$/;
const LIST_ITEM = /^(?:[-*+•]|\d{1,9}[.)])\s+\S/;
const TABLE_DELIMITER = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?$/;
/** Behind a blank line it goes on with what stands above: with an item of a list, or with code. */
const INDENTED = /^(?: {2}|\t)/;

/** The blocks of a text, in order: CommonMark and its tables, as far as it matters for where a text can be cut. */
export function replyBlocks(text: string): ReplyBlock[] {
  const blocks: ReplyBlock[] = [];
  let fence: string | undefined;
  let blank = false;
  for (const { 0: line, index: start } of text.matchAll(/[^\n]+/g)) {
    const end = start + line.length;
    const last = blocks.at(-1);
    // Two line ends on end: the expression above skips the empty lines themselves.
    blank ||= last !== undefined && text.slice(last.end, start).length > 1;
    if (fence !== undefined && last) {
      last.end = end;
      blank = false;
      if (closes(line.trim(), fence)) fence = undefined;
      continue;
    }
    const content = line.trim();
    if (content === '') {
      blank = true;
      continue;
    }
    fence = FENCE.exec(content)?.[1];
    const kind = kindOf(content);
    if (last && goesOn(last, line, kind, blank)) {
      last.end = end;
      if (last.kind === 'paragraph' && SETEXT_UNDERLINE.test(content)) last.kind = 'heading';
      if (last.kind === 'paragraph' && TABLE_DELIMITER.test(content)) last.kind = 'table';
    } else {
      blocks.push({ kind, start, end, apart: blank });
    }
    blank = false;
  }
  return blocks;
}

function closes(content: string, fence: string): boolean {
  return content.startsWith(fence) && content.replaceAll(fence[0] ?? '', '') === '';
}

function kindOf(content: string): ReplyBlock['kind'] {
  if (content.startsWith('>')) return 'quote';
  if (content.startsWith('|')) return 'table';
  if (ATX_HEADING.test(content)) return 'heading';
  if (LIST_ITEM.test(content)) return 'list';
  return FENCE.test(content) ? 'code' : 'paragraph';
}

/** Whether a line belongs to the block above it. */
function goesOn(block: ReplyBlock, line: string, kind: ReplyBlock['kind'], blank: boolean): boolean {
  if (blank) return INDENTED.test(line);
  if (block.kind === 'heading' || block.kind === 'code') return false;
  return kind === block.kind || kind === 'paragraph' || (block.kind === 'list' && INDENTED.test(line));
}
