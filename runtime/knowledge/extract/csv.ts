import { type CsvError, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { estimateWords, piecesOf, sentencesOf } from '../splitText.ts';
import { type Block, UnreadableFile } from './blocks.ts';
import { decodeText } from './encoding.ts';
import { isHeaderRow } from './tables.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** How much of the file is used to detect the separator. */
const SAMPLE_ROWS = 20;
const SAMPLE_CHARS = 64 * 1024;
/** More columns are no better sign: a long text has thousands of commas. */
const MAX_COUNTED = 99;
const MAX_ROW_CHARS = 1024 * 1024;
/** Rows with a single cell above the table are its title. */
const MAX_TITLES = 10;
const SEPARATOR = '; ';
/** A row with more becomes several lines, so that each fits into a passage, with the beginning of the row. */
const MAX_LINE = { chars: 1_400, words: 200 };
/** Of a cell, what stands in one line. */
const MAX_PART = { chars: 1_000, words: 160 };
const [MAX_BEGINNING_CHARS, MAX_CELLS_OF_BEGINNING] = [150, 3];

const LENIENT = { bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true, ltrim: true };

/** Reads CSV. Each row becomes a line that names its columns, so that it can be understood alone. */
export async function* readCsv(content: Uint8Array): AsyncGenerator<Block> {
  // Spreadsheets may write the separator on a line of its own before the table.
  const whole = decodeText(content);
  const [line = '', said] = /^\uFEFF?sep=(.)\r?\n/.exec(whole) ?? [];
  const text = whole.slice(line.length);
  const { delimiter, columns } = said === undefined ? detectDelimiter(text) : { delimiter: said, columns: 1 };
  const rows = parse(text, { ...LENIENT, delimiter, max_record_size: MAX_ROW_CHARS });
  let place = 0;
  let first: string[] | undefined;
  let header: string[] | undefined;
  let areRowsBelow = false;
  try {
    for await (const read of rows as AsyncIterable<string[]>) {
      const row = read.map(oneLine);
      const filled = row.filter((cell) => cell !== '');
      place += 1;
      if (filled.length === 0) continue;
      if (first === undefined && filled.length === 1 && columns > 1 && place <= MAX_TITLES) {
        yield { type: 'paragraph', text: filled.join('') };
      } else if (first === undefined) {
        first = row;
        header = isHeaderRow(row) ? row : undefined;
        if (header === undefined) yield* rowBlocks(row, header);
      } else {
        yield* rowBlocks(row, header);
        areRowsBelow = true;
      }
    }
  } catch (error) {
    throw unreadable(error);
  }
  // A header without rows is still the text of the file.
  if (header !== undefined && !areRowsBelow) yield* rowBlocks(header, undefined);
}

function oneLine(cell: string): string {
  return cell.trim().replace(/\s*[\r\n]\s*/g, ' ');
}

/** A row as a line; a long one as several, each with what the row begins with, so that all of them tell whose they are. */
function* rowBlocks(row: readonly string[], header: readonly string[] | undefined): Generator<Block> {
  const cells = row.flatMap((value, index) => (value === '' ? [] : [{ name: header?.[index] ?? '', value }]));
  let [begins, own, words] = ['', '', 0];
  for (const { name, value } of cells) {
    for (const part of partsOf(value)) {
      const cell = named(name, part);
      const more = estimateWords(cell);
      if (own !== '' && (own.length + cell.length > MAX_LINE.chars || words + more > MAX_LINE.words)) {
        yield { type: 'row', text: begins + own };
        begins ||= beginning(cells);
        [own, words] = ['', 0];
      }
      own += (own === '' ? '' : SEPARATOR) + cell;
      words += more;
    }
  }
  if (own !== '') yield { type: 'row', text: begins + own };
}

function named(name: string, value: string): string {
  return name === '' ? value : `${name}: ${value}`;
}

/** A value, in parts of whole sentences when it is long. */
function* partsOf(value: string): Generator<string> {
  let [part, words] = ['', 0];
  for (const sentence of value.length <= MAX_PART.chars / 4 ? [value] : sentencesOf(value)) {
    const more = estimateWords(sentence);
    if (part !== '' && (part.length + sentence.length > MAX_PART.chars || words + more > MAX_PART.words)) {
      yield* piecesOf(part.trim(), MAX_PART);
      [part, words] = ['', 0];
    }
    part += sentence;
    words += more;
  }
  yield* piecesOf(part.trim(), MAX_PART);
}

/** The first cells of a row, which usually name what it is about. */
function beginning(cells: readonly { name: string; value: string }[]): string {
  let found = '';
  for (const { name, value } of cells.slice(0, MAX_CELLS_OF_BEGINNING)) {
    const cell = named(name, value) + SEPARATOR;
    if (found.length + cell.length > MAX_BEGINNING_CHARS) break;
    found += cell;
  }
  return found;
}

/** The separator that splits the first rows into the most columns, with the same number in each row, and that number. */
function detectDelimiter(text: string): { delimiter: string; columns: number } {
  let best = { delimiter: ',', columns: 1, score: 0 };
  for (const delimiter of DELIMITERS) {
    const widths = sampleWidths(text.slice(0, SAMPLE_CHARS), delimiter);
    const usual = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
    const alike = widths.filter((width) => width === usual).length / Math.max(1, widths.length);
    const score = usual > 1 ? alike * 1000 + Math.min(usual, MAX_COUNTED) : 0;
    if (score > best.score) best = { delimiter, columns: usual, score };
  }
  return best;
}

function sampleWidths(sample: string, delimiter: string): number[] {
  const widths: number[] = [];
  const note = (row: string[]) => {
    widths.push(row.length);
    return row;
  };
  try {
    parseSync(sample, { ...LENIENT, delimiter, to: SAMPLE_ROWS, on_record: note });
  } catch {
    // The sample may end inside quotes. The rows before count.
  }
  return widths;
}

function unreadable(error: unknown): unknown {
  const { code, lines, records } = error as CsvError & { lines?: number; records?: number };
  if (code === 'CSV_QUOTE_NOT_CLOSED') {
    return new UnreadableFile(
      `A value in quotes below row ${records} never ends. Close the quotes and upload the file again.`,
    );
  }
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new UnreadableFile('A row has more than a million characters. Check the quotes of the file.');
  }
  if (typeof code === 'string' && code.startsWith('CSV_')) {
    return new UnreadableFile(`The table cannot be read near line ${lines}. Save it again as CSV in UTF-8.`);
  }
  return error;
}
