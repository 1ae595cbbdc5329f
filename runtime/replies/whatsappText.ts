/** WhatsApp takes so many characters in one message. */
const MAX_CHARACTERS = 4_096;
/** Messages that one message of a reply becomes at most; the rest of a longer one is left out. */
const MAX_PIECES = 20;
const LEFT_OUT = '… [cut off]';
/** Room for the marks that close and open a block of code at a cut. */
const FENCE_ROOM = 8;

const FENCE = /^ {0,3}(```|~~~)/;
/** Longer lines are no rule of a table: to find that out would take long. */
const MAX_RULE = 1_000;
const TABLE_RULE = /^ {0,3}\|?[ :]*-[-| :]*\|[-| :]*$|^ {0,3}\|[ :]*-+[ :]*\|?[ ]*$/;

/**
 * A message of a reply as WhatsApp shows it: `*bold*`, `_italic_`, `~struck~`, lists and code as they are, headings in bold, links with
 * their address, and a line for each row of a table. In pieces of 4,096 characters, cut where a paragraph, a line or a word ends. Linear
 * in the length of the text. Empty for a text of white space.
 */
export function whatsappPieces(markdown: string): string[] {
  // Of more than that nothing is sent.
  return cutPieces(whatsappText(markdown.slice(0, 2 * MAX_PIECES * MAX_CHARACTERS)).trim());
}

/** Markdown in WhatsApp's own marks. */
function whatsappText(markdown: string): string {
  const lines = markdown.split(/\r\n?|\n/);
  const shown: string[] = [];
  let inCode = false;
  let columns: string[] | undefined;
  for (const [place, line] of lines.entries()) {
    if (FENCE.test(line)) {
      inCode = !inCode;
      shown.push('```');
      continue;
    }
    if (inCode) {
      shown.push(line);
      continue;
    }
    if (line.includes('|') && isTableRule(lines[place + 1])) {
      columns = cellsOf(line);
      continue;
    }
    if (columns && isTableRule(line)) continue;
    if (columns && line.includes('|')) {
      shown.push(rowText(columns, cellsOf(line)));
      continue;
    }
    columns = undefined;
    shown.push(lineText(line));
  }
  if (inCode) shown.push('```');
  return shown.join('\n').replace(/\n{3,}/g, '\n\n');
}

function isTableRule(line = ''): boolean {
  return line.length <= MAX_RULE && TABLE_RULE.test(line);
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split('|').map((cell) => cell.trim());
}

function rowText(columns: readonly string[], cells: readonly string[]): string {
  const named = cells.map((cell, place) => {
    const name = columns[place] ?? '';
    return name === '' || cell === '' ? inlineText(cell) : `${inlineText(name)}: ${inlineText(cell)}`;
  });
  return `- ${named.filter((cell) => cell !== '').join(', ')}`;
}

function lineText(line: string): string {
  if (/^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/.test(line)) return '';
  const heading = /^ {0,3}#{1,6} +(.*)$/.exec(line)?.[1];
  if (heading !== undefined) {
    const title = inlineText(
      heading
        .trimEnd()
        .replace(/ #+$/, '')
        .replace(/\*\*|__/g, ''),
    ).trim();
    return title === '' ? '' : `*${title}*`;
  }
  const [, marker, item] = /^( {0,12})[*+-] +(.*)$/.exec(line) ?? [];
  if (item !== undefined) return `${marker}- ${inlineText(item)}`;
  return inlineText(line);
}

/** The marks of one line. Code keeps its text; each expression reads the line once. */
function inlineText(line: string): string {
  return line
    .split(/(`[^`]+`)/)
    .map((part, place) => (place % 2 === 1 ? part : markedText(part)))
    .join('');
}

/** Stands for a mark of WhatsApp's bold while italics are read. No reply has it: PostgreSQL stores no NUL. */
const BOLD = '\0';

function markedText(text: string): string {
  return text
    .replace(/<br ?\/?>/gi, '\n')
    .replace(/!\[([^[\]]{0,500})\]\(<?([^\s()<>]{1,2000})>?(?: "[^"]{0,500}")?\)/g, (_, alt: string, url: string) =>
      alt === '' ? url : `${alt}: ${url}`,
    )
    .replace(/\[([^[\]]{1,500})\]\(<?([^\s()<>]{1,2000})>?(?: "[^"]{0,500}")?\)/g, (_, label: string, url: string) =>
      label === url ? url : `${label} (${url})`,
    )
    .replace(/\*\*([^*\s](?:[^*]{0,2000}[^*\s])?)\*\*/g, `${BOLD}$1${BOLD}`)
    .replace(/(?<![\p{L}\p{N}_])__([^_\s](?:[^_]{0,2000}[^_\s])?)__(?![\p{L}\p{N}_])/gu, `${BOLD}$1${BOLD}`)
    .replace(/(?<![\\*\p{L}\p{N}])\*([^*\s](?:[^*]{0,2000}[^*\s])?)\*(?![*\p{L}\p{N}])/gu, '_$1_')
    .replace(/~~([^~\s](?:[^~]{0,2000}[^~\s])?)~~/g, '~$1~')
    .replace(/\\([\\`*_{}[\]()#+\-.!~|>])/g, '$1')
    .replaceAll(BOLD, '*');
}

function cutPieces(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest !== '') {
    if (rest.length <= MAX_CHARACTERS) return [...pieces, rest];
    if (pieces.length === MAX_PIECES - 1)
      return [...pieces, `${rest.slice(0, endOf(rest, LEFT_OUT.length + FENCE_ROOM))}${LEFT_OUT}`];
    let piece = rest.slice(0, endOf(rest, FENCE_ROOM));
    rest = rest.slice(piece.length).replace(/^[ \n]+/, '');
    if (isInCode(piece)) {
      piece = `${piece.trimEnd()}\n\`\`\``;
      rest = `\`\`\`\n${rest}`;
    }
    pieces.push(piece.trim());
  }
  return pieces;
}

/** Where the first piece of the text ends, with `room` characters to spare: behind a paragraph, else a line, else a sentence, else a word. */
function endOf(text: string, room: number): number {
  const most = MAX_CHARACTERS - room;
  const start = text.slice(0, most);
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = start.lastIndexOf(mark);
    if (at >= most / 2) return at + mark.length;
  }
  // No half of a surrogate pair.
  const last = text.charCodeAt(most - 1);
  return last >= 0xd800 && last < 0xdc00 ? most - 1 : most;
}

function isInCode(piece: string): boolean {
  return (piece.match(/^```/gm)?.length ?? 0) % 2 === 1;
}
