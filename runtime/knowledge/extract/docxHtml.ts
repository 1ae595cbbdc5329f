import { unescapeXml } from '../../../core/text.ts';
import type { Block } from './blocks.ts';
import { isHeaderRow } from './tables.ts';

const BLOCK_TAG = /^(p|h[1-6]|li|ul|ol|tr|td|th|br)$/;
const LIST_TAG = /^(li|ul|ol)$/;
const CELL_TAG = /^(td|th)$/;
const TOKEN = /<(\/?)([a-z0-9]+)([^>]*)>|([^<]+)/g;
/** Where the notes begin: they are a list at the end. */
const NOTES = /<ol><li id="(?:footnote|endnote)-/;
const NOTE = /<li id="((?:footnote|endnote)-[^"]*)">/;
const NOTE_LINK = /href="#((?:footnote|endnote)-(?!ref-)[^"]*)"/;
/** A cell that says that it goes over more columns says so by mistake. */
const MAX_COLUMNS = 200;

/** A cell that goes over several rows, while it does. */
interface TallCell {
  text: string;
  rowsLeft: number;
}

/**
 * Blocks of the HTML that mammoth writes: well formed, few elements, no comments. Notes, which stand at its end, come below the block that refers to
 * them.
 */
export function* htmlBlocks(html: string): Generator<Block> {
  const notesAt = html.search(NOTES);
  const reading = new HtmlReading(notesAt < 0 ? new Map() : notesOf(html.slice(notesAt)));
  for (const token of (notesAt < 0 ? html : html.slice(0, notesAt)).matchAll(TOKEN)) yield* reading.take(token);
}

/** The texts of the notes, by their ids. */
function notesOf(html: string): Map<string, string> {
  const notes = new Map<string, string>();
  const parts = html.split(NOTE);
  for (let at = 1; at < parts.length; at += 2) {
    // Each ends with an arrow that leads back.
    const text = (parts[at + 1] ?? '').replace(/<a href="#(?:footnote|endnote)-ref-[^>]*>[^<]*<\/a>/g, '');
    notes.set(
      parts[at] ?? '',
      unescapeXml(text.replace(/<[^>]*>/g, ' '))
        .replace(/\s+/g, ' ')
        .trim(),
    );
  }
  return notes;
}

class HtmlReading {
  readonly #notes: ReadonlyMap<string, string>;
  /** How many notes were referred to, and those of the open block. */
  #references = 0;
  #pending: string[] = [];
  #text = '';
  /** Number of open tables. The content of a cell becomes one line. */
  #tables = 0;
  #row: string[] = [];
  #tall: (TallCell | undefined)[] = [];
  #cell = { columns: 1, rows: 1, isNamed: false };
  /** The names of the columns of the table, once its first row is read; '' when that has none. */
  #header: string | undefined;

  constructor(notes: ReadonlyMap<string, string>) {
    this.#notes = notes;
  }

  *take([, slash, tag = '', attributes = '', words]: RegExpExecArray): Generator<Block> {
    if (words !== undefined) this.#text += unescapeXml(words);
    else if (tag === 'a' && slash === '') this.#refer(NOTE_LINK.exec(attributes)?.[1]);
    else if (tag === 'table') yield* this.#enterTable(slash === '' ? 1 : -1);
    else if (this.#tables > 0) yield* this.#inTable(tag, slash !== '', attributes);
    else if (tag === 'br') this.#text += '\n';
    else if (BLOCK_TAG.test(tag)) yield* this.#endBlock(tag);
  }

  #refer(note: string | undefined): void {
    if (note === undefined) return;
    this.#references += 1;
    const text = this.#notes.get(note) ?? '';
    if (text !== '') this.#pending.push(`[${this.#references}] ${text}`);
  }

  *#endBlock(tag: string): Generator<Block> {
    const text = this.#taken();
    const level = /^h([1-6])$/.exec(tag)?.[1];
    if (text === '') return;
    if (level !== undefined) yield { type: 'heading', level: Number(level), text: text.replaceAll('\n', ' ') };
    else if (LIST_TAG.test(tag)) yield { type: 'row', text: `- ${text}` };
    else yield { type: 'paragraph', text };
    yield* this.#endNotes();
  }

  *#endNotes(): Generator<Block> {
    for (const text of this.#pending) yield { type: 'paragraph', text };
    this.#pending = [];
  }

  #taken(): string {
    const taken = this.#text.replace(/[^\S\n]+/g, ' ').trim();
    this.#text = '';
    return taken;
  }

  *#enterTable(by: 1 | -1): Generator<Block> {
    if (this.#tables === 0) yield* this.#endBlock('p');
    this.#tables += by;
    if (this.#tables > 0) return;
    [this.#tall, this.#header] = [[], undefined];
    yield* this.#endNotes();
  }

  *#inTable(tag: string, isEnd: boolean, attributes: string): Generator<Block> {
    if (this.#tables > 1 || !(CELL_TAG.test(tag) || tag === 'tr')) {
      if (BLOCK_TAG.test(tag)) this.#text += ' ';
    } else if (CELL_TAG.test(tag) && !isEnd) {
      const [columns, rows] = ['colspan', 'rowspan'].map((name) =>
        Number(new RegExp(`${name}="(\\d{1,6})"`).exec(attributes)?.[1] ?? 1),
      );
      this.#cell = { columns: Math.min(columns ?? 1, MAX_COLUMNS), rows: rows ?? 1, isNamed: tag === 'th' };
    } else if (CELL_TAG.test(tag)) {
      this.#endCell();
    } else if (isEnd) {
      yield* this.#endRow();
    }
  }

  #endCell(): void {
    this.#fillTall();
    const text = this.#taken().replaceAll('\n', ' ');
    const { columns, rows } = this.#cell;
    for (let column = 0; column < columns; column += 1) {
      if (rows > 1) this.#tall[this.#row.length] = { text: column === 0 ? text : '', rowsLeft: rows - 1 };
      this.#row.push(column === 0 ? text : '');
    }
  }

  /** What a cell of a row before says of this row, too. */
  #fillTall(): void {
    for (let tall = this.#tall[this.#row.length]; tall; tall = this.#tall[this.#row.length]) {
      tall.rowsLeft -= 1;
      if (tall.rowsLeft === 0) this.#tall[this.#row.length] = undefined;
      this.#row.push(tall.text);
    }
  }

  *#endRow(): Generator<Block> {
    this.#fillTall();
    const row = this.#row;
    this.#row = [];
    while (row.at(-1) === '') row.pop();
    // An empty cell keeps its place: what is behind it belongs to the next column.
    const text = row.join(' | ').replaceAll('|  |', '| |').replaceAll('|  |', '| |');
    if (text === '') return;
    if (this.#header === undefined) {
      this.#header = this.#cell.isNamed || isHeaderRow(row) ? text : '';
      yield { type: 'row', text };
    } else {
      yield this.#header === '' ? { type: 'row', text } : { type: 'row', text, header: this.#header };
    }
  }
}
