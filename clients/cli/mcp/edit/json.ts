import { isDeepStrictEqual } from 'node:util';
import { type Node, type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser';
import { type ConfigFormat, type EntryFields, lineOf, UnreadableConfig } from './format.ts';
import { comments, newDocument, withoutProperty, withProperty, withValue } from './jsonText.ts';

/** What the client's own parser accepts: comments and trailing commas, or neither. */
export interface JsonDialect {
  comments: boolean;
}

/** JSON as the client reads it. With `comments`, those and the trailing commas of the file stay where they are. */
export function jsonFormat(dialect: JsonDialect): ConfigFormat {
  const open = (text: string) => document(text, dialect);
  return {
    read: (text, section, name) => shallow(() => fieldsOf(text, serverOf(open(text), section, name))),
    write: (text, section, name, fields) =>
      shallow(() => {
        const root = open(text);
        if (!root) return newDocument(text, { [section]: { [name]: fields } });
        return checked(text, write(text, root, open, [section, name], fields), dialect, [section, name]);
      }),
    remove: (text, section, name) =>
      shallow(() => {
        const servers = objectAt(open(text), section);
        if (!servers || !property(servers, name)) return text;
        return checked(text, withoutProperty(text, servers, name), dialect, [section, name]);
      }),
  };
}

function write(
  text: string,
  root: Node,
  open: (text: string) => Node | undefined,
  [section, name]: [string, string],
  fields: EntryFields,
): string {
  const servers = objectAt(root, section);
  if (!servers) return withProperty(text, root, section, { [name]: fields });
  const server = property(servers, name);
  if (!server) return withProperty(text, servers, name, fields);
  if (server.type !== 'object') return withValue(text, server, fields);
  const current = fieldsOf(text, server) ?? {};
  const gone = Object.keys(current).filter((key) => !Object.hasOwn(fields, key));
  const changed = Object.entries(fields).filter(([key, value]) => !isDeepStrictEqual(current[key], value));
  let result = text;
  const again = () => serverOf(open(result), section, name) as Node;
  for (const key of gone) result = withoutProperty(result, again(), key);
  for (const [key, value] of changed) {
    const node = property(again(), key);
    result = node ? withValue(result, node, value) : withProperty(result, again(), key, value);
  }
  return result;
}

/** Reads the text; undefined for one without content. */
function document(text: string, dialect: JsonDialect): Node | undefined {
  if (text.trim() === '') return undefined;
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: !dialect.comments, allowTrailingComma: dialect.comments });
  const [first] = errors;
  if (first) {
    const line = lineOf(text, first.offset);
    throw new UnreadableConfig(`is not valid JSON (line ${line}: ${printParseErrorCode(first.error)})`);
  }
  if (root?.type !== 'object') throw new UnreadableConfig('does not hold a JSON object');
  return root;
}

/** The parser and the comparison call themselves for each level, so a file of thousands of levels ends the stack. */
function shallow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableConfig('is nested too deeply to be read');
    if (error instanceof SyntaxError) throw new UnreadableConfig('is not valid JSON'); // JSON.parse in `checked` is the stricter
    throw error;
  }
}

function serverOf(root: Node | undefined, section: string, name: string): Node | undefined {
  const servers = objectAt(root, section);
  return servers && property(servers, name);
}

/** The server's fields as plain objects: those of `getNodeValue` have no prototype, and equal no others. */
function fieldsOf(text: string, server: Node | undefined): EntryFields | undefined {
  if (!server) return undefined;
  return server.type === 'object' ? parse(text.slice(server.offset, server.offset + server.length)) : {};
}

function objectAt(root: Node | undefined, section: string): Node | undefined {
  const node = root && property(root, section);
  if (node && node.type !== 'object') throw new UnreadableConfig(`has a ${section} that is no object`);
  return node;
}

/** The value of a property. Parsers differ in which of two equal names counts, so a file with both is not ours to change. */
function property(object: Node, key: string): Node | undefined {
  const found = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  if (found.length > 1) throw new UnreadableConfig(`has ${JSON.stringify(key)} twice`);
  return found[0]?.children?.[1];
}

/** The new text, when it says the same as the old one about everything but the server. */
function checked(before: string, after: string, dialect: JsonDialect, [section, name]: [string, string]): string {
  const rest = (text: string) => {
    const value = (dialect.comments ? parse(text) : JSON.parse(text)) as Record<string, EntryFields | undefined>;
    const { [name]: _server, ...others } = value[section] ?? {};
    return { ...value, [section]: others };
  };
  // Comments within the server go with it.
  const remarks = (text: string) => {
    if (!dialect.comments) return [];
    const { offset = 0, length = 0 } = serverOf(document(text, dialect), section, name)?.parent ?? {};
    return [...comments(text.slice(0, offset)), ...comments(text.slice(offset + length))];
  };
  const same = isDeepStrictEqual(rest(before), rest(after)) && isDeepStrictEqual(remarks(before), remarks(after));
  if (!same) throw new UnreadableConfig('cannot be changed without a change to something else in it');
  return after;
}
