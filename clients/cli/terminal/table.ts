import stringWidth from 'string-width';
import { cutText } from './cells.ts';
import type { Colours } from './colours.ts';
import { plainLine } from './plain.ts';

/** How a table is drawn. */
export interface TableShape {
  /** Fields to show, in this order; a dotted name reaches into an object. Without them the table chooses. */
  columns?: readonly string[];
  /** Cells of the terminal in a line; `undefined` does not cut. */
  width: number | undefined;
  colours: Colours;
}

/** What was drawn, without a line break at the end. */
export interface Drawing {
  text: string;
  /** Fields that did not fit into the width. */
  hidden: string[];
}

type Fields = Record<string, unknown>;
interface Column {
  name: string;
  heading: string;
  cells: string[];
  right: boolean;
  /** As wide as its widest cell. */
  natural: number;
  /** It is drawn at least so wide. */
  least: number;
}

const GAP = 2;
/** A text that was cut to fewer cells says nothing. */
const LEAST_CELLS = 12;
const MAX_CHOSEN_COLUMNS = 6;
/** A prompt of 100 kB is not measured to the end for a cell of a table. */
const MAX_CELL_CHARACTERS = 400;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const STATUS = /status$/i;
const GOOD = /^(active|completed|connected|published|verified|success|succeeded|ok|sent|delivered)$/i;
const BAD = /^(failed|error|canceled|cancelled|suspended|past_due|expired|disconnected)$/i;
const WAITING = /^(pending|processing|draft|running|waiting|trialing|pending_onboarding|queued)$/i;

/**
 * Any value of the API for people: a list, or a page of one, as a table; one resource with a line for each field; a bare value as it is.
 * What does not fit into the width is named below the table. No line break at the end.
 */
export function drawValue(value: unknown, shape: TableShape): string {
  const page = pageOf(value);
  if (!page) return isObject(value) ? drawRecord(value, shape) : textOf(value);
  if (page.items.length === 0) return shape.colours.dim('Nothing.');
  const { text, hidden } = drawTable(page.items, shape);
  const notes = [
    ...(page.note ? [page.note] : []),
    ...(hidden.length > 0 ? [`Not shown for lack of width: ${hidden.join(', ')}.`] : []),
  ];
  return [text, ...notes.map(shape.colours.dim)].join('\n');
}

function pageOf(value: unknown): { items: unknown[]; note?: string } | undefined {
  if (Array.isArray(value)) return { items: value };
  if (!isObject(value) || !Array.isArray(value.items)) return undefined;
  const { items, page, totalPages, total } = value;
  return Number(totalPages) > 1 ? { items, note: `Page ${page} of ${totalPages}, ${total} in all.` } : { items };
}

/** Draws a list of resources: a heading and a line for each. A cell never breaks, and never says anything to the terminal. */
export function drawTable(rows: readonly unknown[], shape: TableShape): Drawing {
  const fields = rows.map(fieldsOf);
  const columns = (shape.columns ?? chooseColumns(fields)).map((name) => columnOf(name, fields));
  const { shown, hidden } = fitted(columns, shape.width);
  const lines = [
    shown.map((column) => ({ text: column.heading, paint: shape.colours.bold })),
    ...fields.map((_, row) =>
      shown.map((column) => ({
        text: column.cells[row] ?? '',
        paint: painted(column, column.cells[row], shape.colours),
      })),
    ),
  ].map((cells) => lineOf(cells, shown));
  return { text: lines.join('\n'), hidden };
}

/** Draws one resource: a line for each field, its name before its value. Objects within it are indented below their name. */
export function drawRecord(value: object, shape: Omit<TableShape, 'columns'>): string {
  return recordLines(value as Fields, shape, 0).join('\n');
}

function recordLines(value: Fields, shape: Omit<TableShape, 'columns'>, indent: number): string[] {
  const names = Object.keys(value);
  const widest = Math.max(0, ...names.map((name) => stringWidth(plainLine(name))));
  return names.flatMap((name) => {
    const field = value[name];
    const label = plainLine(name);
    const head = `${' '.repeat(indent)}${shape.colours.bold(label)}`;
    if (isObject(field) && Object.keys(field).length > 0) return [head, ...recordLines(field, shape, indent + GAP)];
    if (Array.isArray(field) && field.some(isObject))
      return [head, ...field.flatMap((each) => listLines(each, shape, indent + GAP))];
    const pad = ' '.repeat(widest - stringWidth(label) + GAP);
    // A text with several lines, such as a prompt, is shown whole, below its name.
    if (typeof field === 'string' && /[\r\n]/.test(field.trim()))
      return [head, ...field.split(/\r\n|[\n\r]/).map((line) => `${' '.repeat(indent + GAP)}${plainLine(line)}`)];
    const text = textOf(field);
    return [`${head}${pad}${statusPaint(name, text, shape.colours)(text)}`];
  });
}

function listLines(value: unknown, shape: Omit<TableShape, 'columns'>, indent: number): string[] {
  const [first = '', ...rest] = isObject(value) ? recordLines(value, shape, indent + GAP) : [textOf(value)];
  return [`${' '.repeat(indent)}- ${first.trimStart()}`, ...rest];
}

function fieldsOf(row: unknown): Fields {
  return isObject(row) ? row : { value: row };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The id, what it is called and the state first; then other short values, as they come. */
function chooseColumns(rows: readonly Fields[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const scalar = names.filter((name) => rows.every((row) => typeof row[name] !== 'object' || row[name] === null));
  const rank = (name: string) => {
    if (name === 'publicId') return 0;
    if (/^(name|title|word|code|key|email|slug|workspaceName)$/.test(name)) return 1;
    if (STATUS.test(name)) return 2;
    return /PublicId$|Url$|description/i.test(name) ? 4 : 3;
  };
  const chosen = (scalar.length > 0 ? scalar : names).sort((a, b) => rank(a) - rank(b));
  return chosen.slice(0, MAX_CHOSEN_COLUMNS);
}

function columnOf(name: string, rows: readonly Fields[]): Column {
  const values = rows.map((row) => valueAt(row, name));
  const cells = values.map((value) => beginningOf(textOf(value)));
  const heading = plainLine(name);
  const natural = Math.max(stringWidth(heading), ...cells.map((cell) => stringWidth(cell)));
  const right =
    values.some((value) => typeof value === 'number') &&
    values.every((value) => value == null || typeof value === 'number');
  // A number or an id that is cut is a wrong one, and so is a time.
  const whole = right || values.some((value) => typeof value === 'string' && (ID.test(value) || TIME.test(value)));
  const least = whole ? natural : Math.min(natural, LEAST_CELLS);
  return { name, heading, cells, right, natural, least };
}

function beginningOf(text: string): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  return `${text.slice(0, MAX_CELL_CHARACTERS).toWellFormed()}…`;
}

function valueAt(row: Fields, name: string): unknown {
  if (name in row) return row[name];
  return name.split('.').reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), row);
}

/** Gives every column its width: the widest shrink first, and then the last ones are left out. The first one always stays. */
function fitted(columns: readonly Column[], width: number | undefined): { shown: Column[]; hidden: string[] } {
  const shown = [...columns];
  const hidden: string[] = [];
  if (width === undefined) return { shown, hidden };
  const sum = (of: (column: Column) => number) =>
    shown.reduce((total, column) => total + of(column), GAP * Math.max(0, shown.length - 1));
  while (shown.length > 1 && sum(({ least }) => least) > width) hidden.unshift((shown.pop() as Column).name);
  const widths = shown.map(({ natural }) => natural);
  for (let over = sum(({ natural }) => natural) - width; over > 0; over -= 1) {
    const widest = shown.reduce<number>((best, column, at) => {
      if ((widths[at] ?? 0) <= column.least) return best;
      return best < 0 || (widths[at] ?? 0) > (widths[best] ?? 0) ? at : best;
    }, -1);
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { shown: shown.map((column, at) => cut(column, widths[at] ?? column.natural)), hidden };
}

function cut(column: Column, width: number): Column {
  return {
    ...column,
    natural: width,
    heading: cutText(column.heading, width),
    cells: column.cells.map((cell) => cutText(cell, width)),
  };
}

function lineOf(cells: { text: string; paint: (text: string) => string }[], columns: readonly Column[]): string {
  const parts = cells.map(({ text, paint }, at) => {
    const column = columns[at] as Column;
    const pad = ' '.repeat(Math.max(0, column.natural - stringWidth(text)));
    return column.right ? pad + paint(text) : paint(text) + pad;
  });
  return parts.join(' '.repeat(GAP)).trimEnd();
}

function painted(column: Column, text: string | undefined, colours: Colours): (text: string) => string {
  return statusPaint(column.name, text ?? '', colours);
}

function statusPaint(name: string, text: string, colours: Colours): (text: string) => string {
  if (!STATUS.test(name)) return (same) => same;
  if (GOOD.test(text)) return colours.good;
  if (BAD.test(text)) return colours.bad;
  return WAITING.test(text) ? colours.waiting : (same) => same;
}

/** A value in one line. Times are cut to the minute, objects are named by what they are called, lists of objects are counted. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return timeOf(value) ?? plainLine(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return '–';
    return value.some((each) => typeof each === 'object' && each !== null)
      ? `${value.length} ${value.length === 1 ? 'item' : 'items'}`
      : value.map(textOf).join(', ');
  }
  if (isObject(value)) {
    const name = value.name ?? value.title ?? value.publicId;
    return typeof name === 'string' ? plainLine(name) : plainLine(JSON.stringify(value));
  }
  return String(value);
}

function timeOf(text: string): string | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  return `${match[1]} ${match[2]}${match[5] === 'Z' ? 'Z' : ` ${match[5]}`}`;
}
