import { createScanner, type Node } from 'jsonc-parser';
import { applied, lineBreak, type TextEdit } from './format.ts';

// jsonc-parser's `modify` removes a comment that stands before the last property, and moves one that stands behind it, so the edits are made here.

/** Kinds of tokens of jsonc-parser's scanner (its SyntaxKind is a const enum, which stripped types cannot import). */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const END = 17;

interface Token {
  kind: number;
  start: number;
  end: number;
}

/** A new file that holds the value. A text of line breaks alone gives the kind of line break. */
export function newDocument(text: string, value: unknown): string {
  const eol = lineBreak(text);
  return JSON.stringify(value, null, 2).replaceAll('\n', eol) + eol;
}

/** The text with another value at the node: over lines when the old one was, or when it was an object without content. */
export function withValue(text: string, node: Node, value: unknown): string {
  const { offset, length } = node;
  const old = text.slice(offset, offset + length);
  const lines = old.includes('\n') || (/^[{[]\s*[}\]]$/.test(old) && !onOneLine(text));
  return applied(text, [
    { offset, length, text: lines ? shown(text, value, indentAt(text, offset)) : compact(value, spacing(text)) },
  ]);
}

/** The text with one more property at the end of the object. */
export function withProperty(text: string, object: Node, key: string, value: unknown): string {
  const last = object.children?.at(-1);
  return last ? applied(text, afterLast(text, object, last, key, value)) : intoEmpty(text, object, key, value);
}

function afterLast(text: string, object: Node, last: Node, key: string, value: unknown): TextEdit[] {
  const end = last.offset + last.length;
  const comma = tokens(text, end, object.offset + object.length - 1).find(({ kind }) => kind === COMMA);
  const separator: TextEdit[] = comma ? [] : [{ offset: end, length: 0, text: ',' }];
  const indent = ownLine(text, last.offset);
  if (indent === undefined) {
    const space = spacing(text);
    const property = `${JSON.stringify(key)}:${space}${compact(value, space)}`;
    return [...separator, { offset: comma?.end ?? end, length: 0, text: space + property + (comma ? ',' : '') }];
  }
  // A comment at the end of the line belongs to the property before it.
  const behind = endOfLine(text, comma?.end ?? end, object.offset + object.length - 1);
  const line = `${lineBreak(text)}${indent}${JSON.stringify(key)}: ${shown(text, value, indent)}${comma ? ',' : ''}`;
  return [...separator, { offset: behind, length: 0, text: line }];
}

function intoEmpty(text: string, object: Node, key: string, value: unknown): string {
  const close = object.offset + object.length - 1;
  const inside = text.slice(object.offset + 1, close);
  if (onOneLine(text) && inside.trim() === '' && text.trim().length > object.length) {
    return applied(text, [
      { offset: object.offset + 1, length: inside.length, text: `${JSON.stringify(key)}:${compact(value, '')}` },
    ]);
  }
  const outer = indentAt(text, object.offset);
  const indent = outer + unit(text);
  const eol = lineBreak(text);
  const kept = inside.trimEnd();
  const property = `${eol}${indent}${JSON.stringify(key)}: ${shown(text, value, indent)}${eol}${outer}`;
  const from = object.offset + 1 + kept.length;
  return applied(text, [{ offset: from, length: close - from, text: property }]);
}

/** The text without the property, its comma, and the line when nothing else stands on it. Comments stay. */
export function withoutProperty(text: string, object: Node, key: string): string {
  const properties = object.children ?? [];
  const index = properties.findIndex(({ children }) => children?.[0]?.value === key);
  const found = properties[index];
  if (!found) return text;
  const start = found.offset;
  const end = start + found.length;
  const before = properties[index - 1];
  const next = properties[index + 1]?.offset ?? object.offset + object.length - 1;
  const following = tokens(text, end, next).find(({ kind }) => kind === COMMA);
  const preceding = before && tokens(text, before.offset + before.length, start).find(({ kind }) => kind === COMMA);
  const comma = following ?? preceding;
  const joined = following && text.slice(end, following.start).trim() === '';
  const removed = joined ? following.end : end;
  const edits: TextEdit[] = [wholeLine(text, start, removed)];
  if (comma && !joined) edits.push({ offset: comma.start, length: 1, text: '' });
  const result = applied(text, edits.filter(distinct));
  return properties.length === 1 ? closedUp(result, object.offset) : result;
}

/** An edit inside another is done by it. */
function distinct({ offset, length }: TextEdit, index: number, all: TextEdit[]): boolean {
  return !all.some(
    (other, at) => at !== index && other.offset <= offset && other.offset + other.length >= offset + length,
  );
}

/** Removes [start, end), and the line break with it when the line is empty then; in a line with others, the space before it. */
function wholeLine(text: string, start: number, end: number): TextEdit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', end);
  const lineEnd = newline < 0 ? text.length : newline + 1;
  const free = text.slice(lineStart, start).trim() === '' && text.slice(end, lineEnd).trim() === '';
  if (free && newline >= 0) return { offset: lineStart, length: lineEnd - lineStart, text: '' };
  const spaces = /[ \t]*$/.exec(text.slice(lineStart, start))?.[0].length ?? 0;
  return { offset: start - spaces, length: end - start + spaces, text: '' };
}

/** An object that holds white space alone becomes {}. */
function closedUp(text: string, offset: number): string {
  const inside = /^\{(\s*)\}/.exec(text.slice(offset))?.[1];
  return inside ? applied(text, [{ offset: offset + 1, length: inside.length, text: '' }]) : text;
}

/** The texts of the comments, in order. */
export function comments(text: string): string[] {
  return tokens(text, 0, text.length)
    .filter(({ kind }) => kind === LINE_COMMENT || kind === BLOCK_COMMENT)
    .map(({ start, end }) => text.slice(start, end).trimEnd());
}

/** The end of the last comment that begins on the line of `from`; `from` itself when there is none, or when more stands behind it. */
function endOfLine(text: string, from: number, to: number): number {
  let end = from;
  for (const { kind, start, end: tokenEnd } of tokens(text, from, to)) {
    const comment = kind === LINE_COMMENT || kind === BLOCK_COMMENT;
    if (text.slice(from, start).includes('\n') || !comment) break;
    end = tokenEnd;
  }
  return end;
}

/** The tokens in [from, to) but white space. A token that begins before `to` is whole. */
function tokens(text: string, from: number, to: number): Token[] {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  const found: Token[] = [];
  for (let kind: number = scanner.scan(); kind !== END; kind = scanner.scan()) {
    const start = scanner.getTokenOffset();
    if (start >= to) break;
    const white = text.slice(start, scanner.getPosition()).trim() === '';
    if (!white) found.push({ kind, start, end: scanner.getPosition() });
  }
  return found;
}

/** The value as the file is written: over lines with the file's indentation, or on one line where the file has one. */
function shown(text: string, value: unknown, indent: string): string {
  if (onOneLine(text) && text.trim() !== '{}') return compact(value, spacing(text));
  return JSON.stringify(value, null, unit(text)).replaceAll('\n', lineBreak(text) + indent);
}

function compact(value: unknown, space: string): string {
  if (!space) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => compact(each, space)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const properties = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${compact(each, space)}`);
  return `{${properties.length > 0 ? ` ${properties.join(', ')} ` : ''}}`;
}

/** What stands behind a colon or a comma in this file. */
function spacing(text: string): '' | ' ' {
  return text.includes('": ') ? ' ' : '';
}

function onOneLine(text: string): boolean {
  return !text.trim().includes('\n');
}

/** The white space at the beginning of the offset's line. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

/** The white space before the offset when nothing else stands before it on its line. */
function ownLine(text: string, offset: number): string | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  return lineStart > 0 && before.trim() === '' ? before : undefined;
}

/** One step of the file's indentation: that of its first indented line, or two spaces. */
function unit(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
}
