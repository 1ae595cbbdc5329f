import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  stringify,
} from 'yaml';
import { FileFault, FileFaults } from '../faults.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/** A parsed YAML file. */
export interface YamlFile {
  value: JsonValue;
  /** The line, from 1, of a place in it; of the nearest place around it when there is none. */
  lineOf(at: readonly (string | number)[]): number;
}

/** Each repeats what stands at its anchor: more make a small file a huge value. */
const MAX_ALIASES = 100;

/**
 * Reads YAML 1.2. `file` is only for messages. Throws FileFaults for whatever is no JSON value: tags, repeated names, infinite numbers,
 * several documents, aliases that blow up.
 */
export function parseYaml(file: string, text: string): YamlFile {
  const lines = new LineCounter();
  let document: Document.Parsed<ParsedNode>;
  try {
    document = parseDocument(text, { lineCounter: lines, version: '1.2', uniqueKeys: true, prettyErrors: false });
  } catch (error) {
    // Very deep nesting ends the parser's stack.
    throw new FileFaults([new FileFault(file, undefined, `cannot be read: ${(error as Error).message}`)]);
  }
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    throw new FileFaults(
      problems
        .slice(0, 20)
        .map(({ pos, message }) => new FileFault(file, lines.linePos(pos[0]).line, sentence(message))),
    );
  }
  const lineOf = (at: readonly (string | number)[]) => {
    for (let depth = at.length; depth >= 0; depth--) {
      const offset = offsetOf(document, at.slice(0, depth));
      if (offset !== undefined) return lines.linePos(offset).line;
    }
    return 1;
  };
  let value: JsonValue;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? null;
  } catch (error) {
    throw new FileFaults([new FileFault(file, undefined, sentence((error as Error).message))]);
  }
  const odd = placeOfNoJson(value, []);
  if (odd) throw new FileFaults([new FileFault(file, lineOf(odd), 'infinity and NaN are not allowed.')]);
  return { value, lineOf };
}

/** Where a place begins. An item of a list is told by its index or by its name. */
function offsetOf(document: Document.Parsed<ParsedNode>, at: readonly (string | number)[]): number | undefined {
  let node: unknown = document.contents;
  let offset = isNode(node) ? node.range?.[0] : undefined;
  for (const step of at) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isNode(key) && String(key) === String(step));
      if (!pair || !isNode(pair.key)) return undefined;
      // The line of a field is that of its name: its value may begin on the next one.
      offset = pair.key.range?.[0];
      node = pair.value;
    } else if (isSeq(node)) {
      node = typeof step === 'number' ? node.items[step] : node.items.find((item) => nameOf(item) === step);
      if (!isNode(node)) return undefined;
      offset = node.range?.[0];
    } else return undefined;
  }
  return offset;
}

/** What tells an item of a list from the others: its name, or itself. */
function nameOf(item: unknown): unknown {
  if (isMap(item)) return item.get('name') ?? item.get('type');
  return isScalar(item) ? item.value : undefined;
}

function placeOfNoJson(value: unknown, at: (string | number)[]): (string | number)[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, each] of Object.entries(value)) {
    const found = placeOfNoJson(each, [...at, Array.isArray(value) ? Number(name) : name]);
    if (found) return found;
  }
  return undefined;
}

function sentence(message: string): string {
  const text = message.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * YAML that people like to diff: fields in the given order, texts with several lines as blocks, one item a line, nothing folded.
 */
export function yamlText(value: JsonObject | JsonValue[]): string {
  return stringify(value, {
    version: '1.2',
    lineWidth: 0,
    blockQuote: 'literal',
    aliasDuplicateObjects: false,
    indentSeq: true,
    minContentWidth: 0,
  });
}
