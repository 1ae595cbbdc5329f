import { sentenceEnds } from '../replies/sentences.ts';

/** What a provider takes at once: OpenAI 4,096 characters, of its newer models 2,000 tokens, which have three bytes or more each. */
const LONGEST_TEXT = 4_096;
const MOST_BYTES = 6_000;
/** Looked at: more cannot be said, even when half of it is markup. */
const LONGEST_REPLY = 20_000;

/** Each is linear in the length of the text, or bounded. */
const WITHOUT: readonly (readonly [RegExp, string | ((match: string) => string)])[] = [
  // Blocks of code, also one that is not closed.
  [/^[ \t]{0,3}(`{3,20}|~{3,20})[^\n]*\n[\s\S]*?(?:^[ \t]{0,3}\1[^\n]*$|$(?![\s\S]))/gm, '\n'],
  [/[ \t]+/g, ' '],
  [/<!--[\s\S]{0,5000}?-->/g, ' '],
  // Pictures and links leave their text, and addresses nothing.
  [/!?\[([^[\]]{0,500})\](?:\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?: "[^"]{0,200}")?\)|\[[^[\]]{0,200}\])/g, '$1'],
  [/^ ?\[[^\]\n]{1,200}\]:[^\n]*$/gm, ''],
  [/<?\b(?:https?:\/\/|www\.)[^\s<>\u3000-\u303f\uff00-\uff65]*[^\s<>.,;:!?)\]"'\u3000-\u303f\uff00-\uff65]>?/gi, ''],
  [/<\/?[a-z][^<>\n]{0,500}>/gi, ''],
  [/`+/g, ''],
  // Rules between sections, and below the heads of tables; then what separates the cells.
  [/^[|:=*_ -]+$/gm, (line) => (/--|(?:[*_=-] ?){3}|\| ?:?-/.test(line) ? '' : line)],
  [/^ ?\| ?| ?\| ?$/gm, ''],
  [/ ?\| ?/g, ', '],
  // What a line begins with: quotations, headings, bullets. Numbers are said.
  [/^(?: ?>)+ ?/gm, ''],
  [/^ ?#{1,6} /gm, ''],
  [/^ ?[*+•-] (?:\[[ x]\] )?/gim, ''],
  // Emphasis. An underscore or asterisk between letters or numbers may mean something.
  [/\*{2,3}|~~/g, ''],
  [/(?<=^|[\s("'“])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?=$|[\s.,;:!?)"'”])/gm, ''],
  [/\\([!-/:-@[-`{-~])/g, '$1'],
  [/(?<=^|\s)(?:\( ?\)|\[ ?\])/gm, ''],
  [/ +/g, ' '],
  [/ ?\n ?/g, '\n'],
  [/\n{3,}/g, '\n\n'],
];

/**
 * The part of a reply that can be said: no Markdown, code or addresses, and no more than a provider takes, cut where a sentence ends.
 * Empty when there is no word in it.
 */
export function speakable(reply: string): string {
  let text = reply.slice(0, LONGEST_REPLY).toWellFormed().replaceAll('\r\n', '\n');
  for (const [pattern, replacement] of WITHOUT) {
    text = typeof replacement === 'string' ? text.replace(pattern, replacement) : text.replace(pattern, replacement);
  }
  return /[\p{L}\p{N}]/u.test(text) ? shortened(text.trim()) : '';
}

/** As much of the text as a provider takes at once. */
function shortened(text: string): string {
  let most = LONGEST_TEXT;
  while (Buffer.byteLength(text.slice(0, most)) > MOST_BYTES) most -= 256;
  if (text.length <= most) return text;
  // Not between the halves of a surrogate pair.
  const head = text.slice(0, (text.charCodeAt(most) & 0xfc00) === 0xdc00 ? most - 1 : most);
  const end = sentenceEnds(head).at(-1) ?? head.lastIndexOf(' ');
  return (end > 0 ? head.slice(0, end) : head).trimEnd();
}
