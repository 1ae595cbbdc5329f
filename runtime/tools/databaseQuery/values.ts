import pg from 'pg';

/** A column of a result. */
export interface Column {
  name: string;
  typeId: number;
}

type Reader = (text: string) => unknown;

const MAX_DEPTH = 100;

/** A whole number; text when a JSON number would not be exact. */
function wholeNumber(text: string): unknown {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** A number; NaN and the infinities, which JSON does not have, stay text. */
function anyNumber(text: string): unknown {
  const number = Number(text);
  return Number.isFinite(number) && text !== '' ? number : text;
}

/** RFC 3339 in the session's time zone. Infinity, years before Christ and the like stay as PostgreSQL writes them. */
function timestamp(text: string): unknown {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:\d\d)?)?$/.exec(text);
  if (parts === null) return text;
  const [, date, time, hours, minutes = ':00'] = parts;
  if (hours === undefined) return `${date}T${time}`;
  return `${date}T${time}${hours === '+00' && minutes === ':00' ? 'Z' : hours + minutes}`;
}

function bytes(text: string): unknown {
  return /^\\x(?:[0-9a-f]{2})*$/.test(text) ? Buffer.from(text.slice(2), 'hex').toString('base64') : text;
}

/** Keeps a whole number that a double would round as the text of the document. */
function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && /^-?\d{16,}$/.test(source) ? wholeNumber(source) : value;
}

/** How deep a document or an array nests; infinity when a string in it does not end, which no real server sends. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (mark === '"') inString = !inString;
    else if (inString) at += mark === '\\' ? 1 : 0;
    else if (mark === '[' || mark === '{') deepest = Math.max(deepest, ++depth);
    else if (mark === ']' || mark === '}') depth -= 1;
  }
  return inString ? Number.POSITIVE_INFINITY : deepest;
}

/** A JSON document; text when it nests too deep. */
function document(text: string): unknown {
  if (depthOf(text) > MAX_DEPTH) return text;
  const read = JSON.parse as (text: string, reviver?: typeof keepDigits) => unknown;
  return /\d{16}/.test(text) ? read(text, keepDigits) : read(text);
}

const text: Reader = (value) => value;
const truth: Reader = (value) => value === 't';

/** How to convert PostgreSQL's text to JSON, by type. All other types stay text, also `numeric`, which is exact. */
const READERS: ReadonlyMap<number, Reader> = new Map([
  [pg.types.builtins.BOOL, truth],
  [pg.types.builtins.INT2, wholeNumber],
  [pg.types.builtins.INT4, wholeNumber],
  [pg.types.builtins.INT8, wholeNumber],
  [pg.types.builtins.OID, wholeNumber],
  [pg.types.builtins.FLOAT4, anyNumber],
  [pg.types.builtins.FLOAT8, anyNumber],
  [pg.types.builtins.TIMESTAMP, timestamp],
  [pg.types.builtins.TIMESTAMPTZ, timestamp],
  [pg.types.builtins.BYTEA, bytes],
  [pg.types.builtins.JSON, document],
  [pg.types.builtins.JSONB, document],
]);

/** The element types of array types (pg_type.typelem). Arrays of other types stay text. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  [1000, pg.types.builtins.BOOL],
  [1005, pg.types.builtins.INT2],
  [1007, pg.types.builtins.INT4],
  [1016, pg.types.builtins.INT8],
  [1028, pg.types.builtins.OID],
  [1021, pg.types.builtins.FLOAT4],
  [1022, pg.types.builtins.FLOAT8],
  [1231, pg.types.builtins.NUMERIC],
  [1009, pg.types.builtins.TEXT],
  [1014, pg.types.builtins.BPCHAR],
  [1015, pg.types.builtins.VARCHAR],
  [1003, pg.types.builtins.TEXT], // name[]
  [2951, pg.types.builtins.UUID],
  [1182, pg.types.builtins.DATE],
  [1115, pg.types.builtins.TIMESTAMP],
  [1185, pg.types.builtins.TIMESTAMPTZ],
  [1001, pg.types.builtins.BYTEA],
  [199, pg.types.builtins.JSON],
  [3807, pg.types.builtins.JSONB],
]);

/** Reads an array in PostgreSQL's text form (documentation, 8.15.2) as nested lists. Throws when it nests too deep. */
function readArray(source: string, read: Reader): unknown[] {
  const root: unknown[] = [];
  const open = [root];
  // Non-default lower bounds stand before the elements: [0:1]={a,b}
  const elements = source.startsWith('[') ? source.slice(source.indexOf('=') + 1) : source;
  if (depthOf(elements) > MAX_DEPTH) throw new RangeError('The array nests too deep, or a string in it does not end.');
  for (const [mark, quoted, plain] of elements.matchAll(/[{}]|"([^"\\]*(?:\\.[^"\\]*)*)"|([^{},"]+)/gs)) {
    const present = open.at(-1) ?? root;
    if (mark === '{') {
      const inner: unknown[] = [];
      present.push(inner);
      open.push(inner);
    } else if (mark === '}') open.pop();
    else if (quoted !== undefined) present.push(read(quoted.replace(/\\(.)/gs, '$1')));
    else present.push(plain === 'NULL' ? null : read(plain ?? ''));
  }
  return root[0] as unknown[];
}

/** A value as JSON. It stays text when it does not have its type's usual form, which the query may have changed. */
function jsonValue(value: string, typeId: number): unknown {
  const element = ARRAYS.get(typeId);
  try {
    if (element !== undefined) return readArray(value, READERS.get(element) ?? text);
    return (READERS.get(typeId) ?? text)(value);
  } catch {
    return value;
  }
}

/** The names of the columns, made unique: the second `id` is `id_2`. */
function columnNames(columns: readonly Column[]): string[] {
  const taken = new Set(columns.map(({ name }) => name));
  const used = new Set<string>();
  // The last number of each name: a hostile server may send one name tens of thousands of times.
  const numbers = new Map<string, number>();
  return columns.map(({ name }) => {
    let unique = name;
    while (used.has(unique) || (unique !== name && taken.has(unique))) {
      const number = numbers.get(name) ?? 2;
      numbers.set(name, number + 1);
      unique = `${name}_${number}`;
    }
    used.add(unique);
    return unique;
  });
}

/** Returns a function that converts a row of these columns, as PostgreSQL's text, to a JSON object. */
export function rowReader(columns: readonly Column[]): (values: readonly (string | null)[]) => Record<string, unknown> {
  const names = columnNames(columns);
  return (values) =>
    // fromEntries makes own properties even of names such as __proto__.
    Object.fromEntries(
      columns.map(({ typeId }, place) => {
        const value = values[place] ?? null;
        return [names[place] ?? '', value === null ? null : jsonValue(value, typeId)];
      }),
    );
}
