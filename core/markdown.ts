import { createRequire } from 'node:module';
import type MarkdownItClass from 'markdown-it';
import type { MarkdownIt, Token } from 'markdown-it';

export type { Token } from 'markdown-it';

/** A block of a text in Markdown that stands in no other block. */
export interface MarkdownBlock {
  kind: 'paragraph' | 'heading' | 'list' | 'table' | 'quote' | 'code' | 'rule';
  /** Its first line, counted from 0. */
  firstLine: number;
  /** The line after its last one. Blank lines at the end of the block do not count. */
  endLine: number;
  /** Of a heading, from 1. */
  level?: number;
  /** Of a heading: its text, with the marks in it. */
  content?: string;
  /** Code with fences, the block itself or inside of it: first line and the line after the last. */
  fences: readonly (readonly [number, number])[];
}

const KINDS: Readonly<Record<string, MarkdownBlock['kind']>> = {
  heading_open: 'heading',
  bullet_list_open: 'list',
  ordered_list_open: 'list',
  table_open: 'table',
  blockquote_open: 'quote',
  fence: 'code',
  code_block: 'code',
  hr: 'rule',
};

let inlineParser: MarkdownIt | undefined;
let blockParser: MarkdownIt | undefined;

/** The library takes 50 ms and 10 MB: it is loaded at the first use. */
function createParser(options: { html: boolean }): MarkdownIt {
  const Parser: typeof MarkdownItClass = createRequire(import.meta.url)('markdown-it');
  return new Parser('default', options);
}

/**
 * Parses CommonMark with the tables and the strikethrough of GitHub. Never throws. Returns the library's tokens: blocks in document
 * order, whose `children` are the tokens of a line. Takes time in proportion to the text, but several seconds a megabyte at worst.
 */
export function parseMarkdown(text: string): Token[] {
  inlineParser ??= createParser({ html: true });
  return inlineParser.parse(text, {});
}

/** Returns the text of one line of Markdown without its marks and addresses. Pictures leave their description. */
export function inlineText(line: string): string {
  inlineParser ??= createParser({ html: true });
  return textOf(inlineParser.parseInline(line, {}));
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.children !== null) return textOf(token.children);
      return token.type.endsWith('break') ? ' ' : token.content;
    })
    .join('');
}

/** Splits a text into the lines that MarkdownBlock counts. */
export function markdownLines(text: string): string[] {
  return text.split(/\r\n?|\n/);
}

/** Returns the outermost blocks of a text, in order. What stands in lines is not parsed, which is much faster. */
export function markdownBlocks(lines: readonly string[]): MarkdownBlock[] {
  if (blockParser === undefined) {
    blockParser = createParser({ html: false });
    blockParser.core.ruler.enableOnly(['normalize', 'block']);
    // Definitions of links have no token, and their lines would be missing.
    blockParser.block.ruler.disable('reference');
  }
  const blocks: (MarkdownBlock & { fences: [number, number][] })[] = [];
  for (const token of blockParser.parse(lines.join('\n'), {})) {
    if (token.map === null) continue;
    const [firstLine] = token.map;
    let [, endLine] = token.map;
    while (endLine > firstLine + 1 && lines[endLine - 1]?.trim() === '') endLine -= 1;
    const block = blocks.at(-1);
    if (token.level === 0) {
      const kind = KINDS[token.type] ?? 'paragraph';
      const level = kind === 'heading' ? { level: Number(token.tag.slice(1)) } : {};
      blocks.push({ kind, firstLine, endLine, fences: [], ...level });
    } else if (token.type === 'inline' && block?.kind === 'heading') block.content = token.content;
    if (token.type === 'fence') blocks.at(-1)?.fences.push([firstLine, endLine]);
  }
  return blocks;
}
