import { isDeepStrictEqual } from 'node:util';
import { parse, type TomlTable } from 'smol-toml';
import { applied, type ConfigFormat, type EntryFields, lineBreak, type TextEdit, UnreadableConfig } from './format.ts';
import { type TomlStatement, tomlStatements } from './tomlStatements.ts';

/** TOML with one table for each server: `[mcp_servers.name]`. smol-toml reads it; the text is changed statement by statement. */
export const tomlFormat: ConfigFormat = {
  read: (text, section, name) => serverOf(document(text), section, name),
  write: (text, section, name, fields) => checked(text, write(text, [section, name], fields), [section, name], fields),
  remove: (text, section, name) => {
    if (!serverOf(document(text), section, name)) return text;
    return checked(text, without(text, [section, name]), [section, name], undefined);
  },
};

function write(text: string, path: [string, string], fields: EntryFields): string {
  const current = serverOf(document(text), ...path);
  if (!current) return appended(text, path, fields);
  let result = text;
  for (const key of Object.keys(current)) if (!Object.hasOwn(fields, key)) result = without(result, [...path, key]);
  for (const [key, value] of Object.entries(fields))
    if (!isDeepStrictEqual(current[key], value)) result = withKey(result, [...path, key], value, current[key]);
  return result;
}

/** The server as a table of its own at the end, behind an empty line. */
function appended(text: string, path: string[], fields: EntryFields): string {
  const eol = lineBreak(text);
  const before = text === '' || text.endsWith('\n') ? text : text + eol;
  const gap = before.trim() === '' || before.endsWith(eol + eol) ? '' : eol;
  const lines = Object.entries(fields).map(([key, value]) => `${key} = ${shown(value)}`);
  return `${before}${gap}${[`[${path.map(keyShown).join('.')}]`, ...lines].join(eol)}${eol}`;
}

function withKey(text: string, path: string[], value: unknown, current: unknown): string {
  const statements = ours(text);
  const statement = statements.find(({ kind, path: found }) => kind === 'value' && isDeepStrictEqual(found, path));
  if (statement) {
    const { valueStart, valueEnd } = statement;
    return applied(text, [{ offset: valueStart, length: valueEnd - valueStart, text: shown(value) }]);
  }
  if (isTable(current) && isTable(value)) {
    let result = text;
    for (const key of Object.keys(current)) if (!Object.hasOwn(value, key)) result = without(result, [...path, key]);
    for (const [key, each] of Object.entries(value))
      if (!isDeepStrictEqual(current[key], each)) result = withKey(result, [...path, key], each, current[key]);
    return result;
  }
  const tables = statements.filter(({ kind, path: found }) => kind === 'table' && isBelow(path, found));
  const table = tables.toSorted((a, b) => b.path.length - a.path.length)[0];
  if (!table || table.path.length < 2)
    throw new UnreadableConfig('writes this server in a form that cannot be changed: remove it there');
  const end = lastOf(text, table);
  const eol = lineBreak(text);
  const line = `${path.slice(table.path.length).map(keyShown).join('.')} = ${shown(value)}`;
  return applied(text, [{ offset: end, length: 0, text: text[end - 1] === '\n' ? line + eol : eol + line }]);
}

/** The text without the statements of the path and below it, each with its lines and the comments within its table. */
function without(text: string, path: string[]): string {
  const gone = ours(text).filter(({ path: found }) => isBelow(found, path));
  const edits: TextEdit[] = [];
  for (const statement of gone) {
    const end = statement.kind === 'table' ? lastOf(text, statement) : statement.lineEnd;
    const start = statement.kind === 'table' ? withGap(text, statement.lineStart) : statement.lineStart;
    const previous = edits.at(-1);
    if (!previous || previous.offset + previous.length < end)
      edits.push({ offset: start, length: end - start, text: '' });
  }
  return applied(text, edits);
}

/** Where the line of the last value of a table ends; that of its header when it has none. */
function lastOf(text: string, table: TomlStatement): number {
  const statements = tomlStatements(text);
  const index = statements.findIndex(({ lineStart }) => lineStart === table.lineStart);
  const next = statements.findIndex(({ kind }, at) => at > index && kind === 'table');
  return statements.slice(index, next < 0 ? undefined : next).at(-1)?.lineEnd ?? table.lineEnd;
}

/** The start of the line, or of the empty line before it. */
function withGap(text: string, lineStart: number): number {
  const gap = /\n(\r?\n)$/.exec(text.slice(0, lineStart))?.[1] ?? '';
  return lineStart - gap.length;
}

function ours(text: string): TomlStatement[] {
  return tomlStatements(text).filter(({ inArray }) => !inArray);
}

function isBelow(path: string[], prefix: string[]): boolean {
  return prefix.every((part, index) => path[index] === part);
}

function document(text: string): TomlTable {
  try {
    return plain(parse(text, { integersAsBigInt: true })) as TomlTable;
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw new UnreadableConfig(`is not valid TOML (${reason.replace('Invalid TOML document: ', '')})`);
  }
}

/** The value with tables that compare equal to objects written here: the parser's have no prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value;
}

function serverOf(root: TomlTable, section: string, name: string): EntryFields | undefined {
  const servers = Object.hasOwn(root, section) ? root[section] : undefined;
  if (servers !== undefined && !isTable(servers)) throw new UnreadableConfig(`has a ${section} that is no table`);
  const server = servers && Object.hasOwn(servers, name) ? servers[name] : undefined;
  return server === undefined || isTable(server) ? server : {};
}

function isTable(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (!isTable(value)) return String(value);
  const pairs = Object.entries(value).map(([key, each]) => `${keyShown(key)} = ${shown(each)}`);
  return `{ ${pairs.join(', ')} }`;
}

function keyShown(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** The new text, when the parser reads from it the wanted server and everything else as before. */
function checked(
  before: string,
  after: string,
  [section, name]: [string, string],
  wanted: EntryFields | undefined,
): string {
  const rest = (root: TomlTable) => {
    const { [name]: _server, ...others } = (root[section] ?? {}) as Record<string, unknown>;
    return { ...root, [section]: others };
  };
  const old = document(before);
  let read: TomlTable | undefined;
  try {
    read = document(after);
  } catch (error) {
    if (!(error instanceof UnreadableConfig)) throw error;
  }
  const good =
    read && isDeepStrictEqual(serverOf(read, section, name), wanted) && isDeepStrictEqual(rest(old), rest(read));
  if (!good) throw new UnreadableConfig('writes its servers in a form that cannot be changed safely');
  return after;
}
