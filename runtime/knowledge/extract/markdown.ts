import type { Block } from './blocks.ts';
import { decodeText } from './encoding.ts';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX_HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const SETEXT_UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;

/** Markdown (CommonMark) as far as its structure goes: headings, tables, and paragraphs, which keep their marks. */
export function* readMarkdown(content: Uint8Array): Generator<Block> {
  yield* markdownBlocks(decodeText(content));
}

/** The blocks of a text in Markdown. */
export function* markdownBlocks(text: string): Generator<Block> {
  let paragraph: string[] = [];
  let fence: string | undefined;
  function* flush(): Generator<Block> {
    if (paragraph.some((line) => line.trim() !== '')) yield { type: 'paragraph', text: paragraph.join('\n') };
    paragraph = [];
  }
  const lines = text.split(/\r\n?|\n/);
  for (const line of lines.slice(yield* frontMatter(lines))) {
    if (fence !== undefined) {
      paragraph.push(line);
      if (line.trim().startsWith(fence) && line.trim().replaceAll(fence[0] ?? '', '') === '') {
        fence = undefined;
        yield* flush();
      }
      continue;
    }
    fence = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      yield* flush();
      paragraph.push(line);
      continue;
    }
    const heading = ATX_HEADING.exec(line);
    const underline = SETEXT_UNDERLINE.exec(line)?.[1];
    if (heading) {
      yield* flush();
      yield { type: 'heading', level: heading[1]?.length ?? 1, text: plain(heading[2] ?? '') };
    } else if (underline !== undefined && paragraph.length === 1 && paragraph[0]?.trim()) {
      yield { type: 'heading', level: underline.startsWith('=') ? 1 : 2, text: plain(paragraph[0]) };
      paragraph = [];
    } else if (line.trim() === '' || RULE.test(line)) {
      yield* flush();
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      yield* flush();
      yield { type: 'row', text: line.trim() };
    } else {
      paragraph.push(line);
    }
  }
  yield* flush();
}

/** A block of settings between two `---` at the very beginning: no Markdown. Answers with the number of its lines. */
function* frontMatter(lines: readonly string[]): Generator<Block, number> {
  if (lines[0]?.trimEnd() !== '---') return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return 0;
  const text = lines.slice(1, end).join('\n');
  if (text.trim() !== '') yield { type: 'paragraph', text };
  return end + 1;
}

/** A heading without marks and addresses of links. */
function plain(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|`)/g, '')
    .trim();
}
