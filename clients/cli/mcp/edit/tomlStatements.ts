import { UnreadableConfig } from './format.ts';

/** A header or a `key = value` of a TOML text, with where it stands. Offsets of a line include its line break. */
export interface TomlStatement {
  kind: 'table' | 'value';
  /** The whole path: for a value, that of its table and its own key. */
  path: string[];
  /** Of an element of an array of tables, or below one. */
  inArray: boolean;
  /** Where its line begins, and where the line that it ends on ends. */
  lineStart: number;
  lineEnd: number;
  /** The value alone, for kind `value`. */
  valueStart: number;
  valueEnd: number;
}

/**
 * The statements of a text that a TOML parser has accepted, in order (https://toml.io/en/v1.1.0). It finds where things stand; what they
 * mean is the parser's business.
 * @throws UnreadableConfig when it does not understand the text
 */
export function tomlStatements(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  const arrays: string[][] = [];
  let table: string[] = [];
  let at = 0;
  while (at < text.length) {
    const begin = skip(/[ \t\r\n]*/y, text, at);
    if (text[begin] === '#') {
      at = endOfLine(text, begin);
      continue;
    }
    if (begin >= text.length) break;
    const lineStart = text.lastIndexOf('\n', begin - 1) + 1;
    if (text[begin] === '[') {
      const array = text[begin + 1] === '[';
      const { path, end } = keyAt(text, begin + (array ? 2 : 1));
      table = path;
      if (array) arrays.push(path);
      at = endOfLine(text, end);
      const span = { lineStart, lineEnd: at, valueStart: begin, valueEnd: end };
      statements.push({ kind: 'table', path, inArray: below(arrays, path), ...span });
    } else {
      const { path, end } = keyAt(text, begin);
      if (text[end] !== '=') throw new UnreadableConfig('is not TOML that can be changed');
      const valueStart = skip(/[ \t]*/y, text, end + 1);
      const valueEnd = endOfValue(text, valueStart);
      at = endOfLine(text, valueEnd);
      const span = { lineStart, lineEnd: at, valueStart, valueEnd };
      statements.push({ kind: 'value', path: [...table, ...path], inArray: below(arrays, table), ...span });
    }
  }
  return statements;
}

function below(arrays: string[][], path: string[]): boolean {
  return arrays.some((array) => array.every((part, index) => path[index] === part));
}

/** A dotted key, and where the sign behind it (`=` or `]`) stands. */
function keyAt(text: string, start: number): { path: string[]; end: number } {
  const path: string[] = [];
  for (let at = start; ; at += 1) {
    at = skip(/[ \t]*/y, text, at);
    const end = /["']/.test(text[at] ?? '') ? endOfString(text, at) : skip(/[^\s.=\]"'#]+/y, text, at);
    if (end === at) throw new UnreadableConfig('is not TOML that can be changed');
    path.push(keyText(text.slice(at, end)));
    at = skip(/[ \t]*/y, text, end);
    if (text[at] !== '.') return { path, end: at };
  }
}

function keyText(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  if (!key.startsWith('"')) return key;
  try {
    return JSON.parse(key);
  } catch {
    return key; // an escape that JSON does not have (\e, \x41): none of our names has one
  }
}

function endOfValue(text: string, start: number): number {
  const first = text[start] ?? '';
  if (first === '"' || first === "'") return endOfString(text, start);
  if (first !== '[' && first !== '{') return skip(/[^#\r\n]*[^#\s]/y, text, start);
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const char = text[at] ?? '';
    if (char === '"' || char === "'") at = endOfString(text, at);
    else if (char === '#') at = endOfLine(text, at);
    else {
      at += 1;
      if (char === '[' || char === '{') depth += 1;
      if ((char === ']' || char === '}') && --depth === 0) return at;
    }
  }
  throw new UnreadableConfig('is not TOML that can be changed');
}

function endOfString(text: string, start: number): number {
  const quote = text[start] ?? '';
  const closing = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text.startsWith(closing, at)) {
      let end = at + closing.length;
      // Up to two quotes may stand right before the closing three, and belong to the string.
      while (closing.length === 3 && text[end] === quote && end < at + 5) end += 1;
      return end;
    }
  }
  throw new UnreadableConfig('is not TOML that can be changed');
}

/** The end of a match at the place; the place itself when nothing matches. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? text.length : newline + 1;
}
