/** A query whose parameters can be bound. */
export interface BindableQuery {
  /** The query with `$1`, `$2`, … in place of its parameters. */
  text: string;
  /** The names of the parameters by their numbers, each once. */
  names: string[];
  /** The position in the original query of a position in `text`. Both count UTF-16 units from 0. */
  placeOf(place: number): number;
}

type TokenKind = 'space' | 'word' | 'number' | 'quoted' | 'parameter' | 'symbol' | 'unfinished';

interface Token {
  kind: TokenKind;
  start: number;
  end: number;
}

const MAX_PARAMETERS = 500;

const SPACE = /[ \t\n\r\f\v]+|--[^\n\r]*/y;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const NUMBER = /\d+(?:\.\d+)?/y;
const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const PARAMETER = /:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*/y;
const SYMBOL = /::|:=|./sy;

/** Words after which an expression begins. After them a `:` inside brackets cannot be the colon of a slice. */
const BEFORE_EXPRESSION = new Set(
  'all and any between by case collate distinct else end escape from ilike in is like not operator or select similar symmetric then to when where zone'.split(
    ' ',
  ),
);

function match(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : undefined;
}

/** Where the comment that begins at `start` ends; undefined when it does not. Comments nest. */
function endOfComment(sql: string, start: number): number | undefined {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  for (let depth = 0; mark.test(sql); ) {
    depth += sql[mark.lastIndex - 1] === '*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return undefined;
}

/** SQL continues a literal when another one follows on a new line: the position after its quote; undefined if there is none. */
function continuation(sql: string, end: number): number | undefined {
  let at = end;
  for (let next = match(SPACE, sql, at); next !== undefined; next = match(SPACE, sql, at)) at = next;
  return sql[at] === "'" && /[\n\r]/.test(sql.slice(end, at)) ? at + 1 : undefined;
}

/** Where the quoted text ends whose content begins at `start`. With `escapes`, a backslash escapes the next character. */
function endOfQuoted(sql: string, start: number, quote: string, escapes: boolean): number | undefined {
  for (let at = start; at < sql.length; at += 1) {
    if (escapes && sql[at] === '\\') at += 1;
    else if (sql[at] === quote && sql[at + 1] === quote) at += 1;
    else if (sql[at] === quote) {
      const next = quote === "'" ? continuation(sql, at + 1) : undefined;
      if (next === undefined) return at + 1;
      at = next - 1;
    }
  }
  return undefined;
}

function tokenAt(sql: string, at: number): { kind: TokenKind; end: number | undefined } {
  const space = match(SPACE, sql, at);
  if (space !== undefined) return { kind: 'space', end: space };
  if (sql.startsWith('/*', at)) return { kind: 'space', end: endOfComment(sql, at) };
  const character = sql[at] ?? '';
  if (character === "'" || character === '"')
    return { kind: 'quoted', end: endOfQuoted(sql, at + 1, character, false) };
  const word = match(WORD, sql, at);
  if (word !== undefined) {
    const escapes = word === at + 1 && /e/i.test(character) && sql[word] === "'";
    return escapes ? { kind: 'quoted', end: endOfQuoted(sql, word + 1, "'", true) } : { kind: 'word', end: word };
  }
  const number = match(NUMBER, sql, at);
  if (number !== undefined) return { kind: 'number', end: number };
  const opened = match(DOLLAR_QUOTE, sql, at);
  if (opened !== undefined) {
    const tag = sql.slice(at, opened);
    const closed = sql.indexOf(tag, opened);
    return { kind: 'quoted', end: closed < 0 ? undefined : closed + tag.length };
  }
  const parameter = match(PARAMETER, sql, at);
  if (parameter !== undefined) return { kind: 'parameter', end: parameter };
  return { kind: 'symbol', end: match(SYMBOL, sql, at) };
}

/**
 * The tokens of a query by the rules of PostgreSQL's own scanner (documentation, 4.1) that decide what is code: strings and their
 * continuation lines, quoted names, dollar quotes, nested comments, casts and array slices.
 */
function* tokensOf(sql: string): Generator<Token> {
  const open: string[] = [];
  let afterOperand = false;
  for (let start = 0; start < sql.length; ) {
    let { kind, end } = tokenAt(sql, start);
    if (end === undefined) {
      yield { kind: 'unfinished', start, end: sql.length };
      return;
    }
    // `[low:high]`: the colon of a slice follows an operand, where no parameter can be.
    if (kind === 'parameter' && afterOperand && open.at(-1) === '[') {
      kind = 'symbol';
      end = start + 1;
    }
    yield { kind, start, end };
    const text = sql.slice(start, end);
    if (kind === 'symbol') {
      if (text === '(' || text === '[') open.push(text);
      else if (text === ')' || text === ']') open.pop();
    }
    if (kind === 'symbol') afterOperand = text === ')' || text === ']';
    else if (kind === 'word') afterOperand = !BEFORE_EXPRESSION.has(text.toLowerCase());
    else if (kind !== 'space') afterOperand = true;
    start = end;
  }
}

/** The distinct names of the parameters `:x` of a query, in the order of their first use. */
export function parameterNames(query: string): string[] {
  const names = new Set<string>();
  for (const { kind, start, end } of tokensOf(query)) {
    if (kind === 'parameter') names.add(query.slice(start + 1, end));
  }
  return [...names];
}

/** What is wrong with the text of a query, checked without a database; undefined when nothing is. */
export function checkQuery(query: string): string | undefined {
  if (query.includes('\0')) return 'The query contains a NUL character.';
  const names = new Set<string>();
  let begun = false;
  let ended = false;
  let previous = '';
  for (const { kind, start, end } of tokensOf(query)) {
    const text = query.slice(start, end);
    if (kind === 'unfinished') return 'The query ends inside a string, a quoted name or a comment.';
    if (kind === 'space') continue;
    if (ended && text !== ';') return 'The query must be one statement: remove what follows the semicolon.';
    if (kind === 'symbol' && text === ';') ended = true;
    else if (!begun && text !== '(') {
      if (!/^(select|with|values|table)$/i.test(text))
        return 'The query must begin with SELECT, WITH, VALUES or TABLE.';
      begun = true;
    }
    if (previous === '$' && kind === 'number') return 'Write parameters as :name, not as $1.';
    if (kind === 'parameter') names.add(text);
    previous = text;
  }
  if (!begun) return 'The query is empty.';
  return names.size > MAX_PARAMETERS ? `The query has more than ${MAX_PARAMETERS} parameters.` : undefined;
}

/** Replaces named parameters with numbered ones. Values are never put into the text. */
export function bindable(query: string): BindableQuery {
  const numbers = new Map<string, number>();
  const shifts: { from: number; by: number }[] = [];
  let text = '';
  for (const { kind, start, end } of tokensOf(query)) {
    const written = query.slice(start, end);
    if (kind !== 'parameter') {
      text += written;
      continue;
    }
    const name = written.slice(1);
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    text += `$${number}`;
    shifts.push({ from: text.length, by: end - text.length });
  }
  return {
    text,
    names: [...numbers.keys()],
    placeOf: (place) => place + (shifts.findLast(({ from }) => from <= place)?.by ?? 0),
  };
}
