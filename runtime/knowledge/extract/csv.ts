import { type CsvError, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { type Block, UnreadableFile } from './blocks.ts';
import { decodeText } from './encoding.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** How much of the file is used to detect the separator. */
const SAMPLE_ROWS = 20;
const SAMPLE_CHARS = 64 * 1024;
const MAX_ROW_CHARS = 1024 * 1024;

const LENIENT = { bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true, ltrim: true };

/** Reads CSV. Each row becomes a line that names its columns, so that it can be understood alone. */
export async function* readCsv(content: Uint8Array): AsyncGenerator<Block> {
  // Spreadsheets may write the separator on a line of its own before the table.
  const whole = decodeText(content);
  const [line = '', said] = /^\uFEFF?sep=(.)\r?\n/.exec(whole) ?? [];
  const text = whole.slice(line.length);
  const delimiter = said ?? detectDelimiter(text);
  const rows = parse(text, { ...LENIENT, delimiter, max_record_size: MAX_ROW_CHARS });
  let first: string[] | undefined;
  let header: string[] | undefined;
  try {
    for await (const row of rows as AsyncIterable<string[]>) {
      if (first === undefined) {
        first = row;
        header = isHeader(row) ? row : undefined;
        if (header === undefined) yield rowBlock(row, header);
      } else {
        yield rowBlock(row, header);
        first = [];
      }
    }
  } catch (error) {
    throw unreadable(error);
  }
  // A header without rows is still the text of the file.
  if (header !== undefined && first === header) yield rowBlock(header, undefined);
}

function rowBlock(row: readonly string[], header: readonly string[] | undefined): Block {
  const cells = row.map((value, index) => {
    const cell = value.trim();
    const name = header?.[index];
    return cell === '' ? '' : name ? `${name}: ${cell}` : cell;
  });
  return { type: 'row', text: cells.filter((cell) => cell !== '').join('; ') };
}

/** A header names every column with a different word, and has no numbers. */
function isHeader(row: readonly string[]): boolean {
  const names = row.filter((cell) => cell !== '');
  const worded = names.every((cell) => /\p{L}/u.test(cell) && !/^[\d.,\s%€$£-]+$/.test(cell));
  return names.length >= Math.ceil(row.length / 2) && worded && new Set(names).size === names.length && row.length > 1;
}

/** Returns the separator that splits the first rows into the most columns, with the same number in each row. */
function detectDelimiter(text: string): string {
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const widths = sampleWidths(text.slice(0, SAMPLE_CHARS), delimiter);
    const usual = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
    const alike = widths.filter((width) => width === usual).length / Math.max(1, widths.length);
    const score = usual > 1 ? alike * 1000 + usual : 0;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function sampleWidths(sample: string, delimiter: string): number[] {
  try {
    const rows = parseSync(sample, { ...LENIENT, delimiter, to: SAMPLE_ROWS }) as string[][];
    return rows.map((row) => row.length);
  } catch {
    return []; // the sample may end inside quotes
  }
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
