import { parseMarkdown, type Token } from '../../core/markdown.ts';
import { cutText } from '../../core/text.ts';
import { sentenceEnds } from '../replies/sentences.ts';

/** What a provider takes at once: OpenAI 4,096 characters, of its newer models 2,000 tokens, which have three bytes or more each. */
const MAX_CHARACTERS = 4_096;
const MAX_BYTES = 6_000;
/** Only so much of a reply is parsed: more cannot be spoken, even when half of it is markup. */
const MAX_PARSED_CHARACTERS = 20_000;

/** Applied to the text of a block, whose Markdown is gone. Each is linear in the length of the text, or bounded. */
const CLEANING: readonly (readonly [RegExp, string])[] = [
  [/[ \t]+/g, ' '],
  // References to links that are defined nowhere.
  [/\[([^[\]]{0,500})\]\[[^[\]]{0,200}\]/g, '$1'],
  [/<?\b(?:https?:\/\/|www\.)[^\s<>\u3000-\u303f\uff00-\uff65]*[^\s<>.,;:!?)\]"'\u3000-\u303f\uff00-\uff65]>?/gi, ''],
  // Emphasis that is not closed, or that CommonMark does not see beside Chinese and Japanese punctuation.
  [/\*{2,3}|~~/g, ''],
  [/^ ?• /gm, ''],
  // Brackets around an address.
  [/(?<=^|\s)(?:\( ?\)|\[ ?\])/gm, ''],
  [/ +/g, ' '],
  [/ ?\n ?/g, '\n'],
];
const TAG = /<!--[\s\S]{0,5000}?-->|<\/?[a-z][^<>\n]{0,500}>/gi;
const TASK_BOX = /^\[[ x]\] /i;

/**
 * Returns the part of a reply that can be spoken: without Markdown, code and addresses, and no longer than a provider takes, cut
 * where a sentence ends. Empty when it has no word.
 */
export function speakable(reply: string): string {
  const text = spokenText(parseMarkdown(cutText(reply, MAX_PARSED_CHARACTERS)));
  return /[\p{L}\p{N}]/u.test(text) ? shortened(text) : '';
}

/** A row of a table that is being read. */
interface Row {
  cells: string[];
  lines: readonly [number, number];
}

function spokenText(tokens: readonly Token[]): string {
  let text = '';
  /** Lines up to here are in the text. */
  let doneLines = 0;
  let marker = '';
  let row: Row | undefined;
  const add = (block: string, lines: readonly [number, number] | null | undefined) => {
    const [start, end] = lines ?? [doneLines, doneLines];
    const spoken = block.trim();
    if (spoken === '') return;
    if (text !== '') text += start > doneLines ? '\n\n' : '\n';
    text += spoken;
    doneLines = end;
  };
  for (const token of tokens) {
    switch (token.type) {
      case 'list_item_open':
        // The numbers of a list are spoken.
        marker = token.info === '' ? '' : `${token.info}${token.markup} `;
        break;
      case 'tr_open':
        row = { cells: [], lines: token.map ?? [doneLines, doneLines] };
        break;
      case 'tr_close':
        add(row?.cells.filter((cell) => cell !== '').join(', ') ?? '', row?.lines);
        row = undefined;
        break;
      case 'inline': {
        const block = cleaned(inlineText(token.children ?? []).replace(TASK_BOX, ''));
        if (row) row.cells.push(block.trim());
        else add(marker + block, token.map);
        marker = '';
        break;
      }
      case 'html_block':
        add(cleaned(token.content.replace(TAG, '')), token.map);
        break;
      case 'code_block':
        // Indented, which is more often layout than code.
        add(cleaned(token.content), token.map);
        break;
    }
  }
  return text;
}

/** The text of a line without its marks. An asterisk within a word or a sum stays. */
function inlineText(tokens: readonly Token[]): string {
  let text = '';
  const emphases: string[] = [];
  for (const { type, markup, content, children } of tokens) {
    if (type === 'em_open') {
      const mark = markup === '*' && /[A-Za-z0-9]$/.test(text) ? '*' : '';
      emphases.push(mark);
      text += mark;
    } else if (type === 'em_close') text += emphases.pop() ?? '';
    else if (type === 'html_inline') text += /^<br\b/i.test(content) ? '\n' : '';
    else if (type === 'softbreak' || type === 'hardbreak') text += '\n';
    else text += children ? inlineText(children) : content;
  }
  return text;
}

function cleaned(text: string): string {
  return CLEANING.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}

/** As much of the text as a provider takes at once. */
function shortened(text: string): string {
  let max = MAX_CHARACTERS;
  while (Buffer.byteLength(text.slice(0, max)) > MAX_BYTES) max -= 256;
  if (text.length <= max) return text;
  const head = cutText(text, max);
  const end = sentenceEnds(head).at(-1) ?? head.lastIndexOf(' ');
  return (end > 0 ? head.slice(0, end) : head).trimEnd();
}
