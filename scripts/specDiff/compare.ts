import { compareOpenApi, type Diff } from 'api-smart-diff';
import { pointerKey } from '../../core/jsonPointer.ts';
import type { Document } from '../../spec/rules/types.ts';

/** One difference between two versions of the document. */
export type Change = { kind: 'breaking' | 'non-breaking'; where: string; what: string };

type Path = (string | number)[];
type Verdict = Change['kind'] | 'ignore';

/**
 * Lists the changes between two bundled documents that callers of the API can notice. A change is breaking when a valid request
 * becomes invalid, when a response may have a value that was impossible or may lack a value that was always there, or when
 * generated code no longer compiles. Texts and examples do not count.
 *
 * api-smart-diff finds and classifies the differences, and distinguishes requests from responses. It was written for OpenAPI 3.0:
 * `reclass` corrects what it misjudges in 3.1 and under our rules.
 *
 * Not seen: promises in texts; rules across fields; keywords that the tool does not know (`dependentRequired`,
 * `if`/`then`, `contains`, `propertyNames`, `unevaluatedItems`, of which it only says that they changed); whether a new `pattern` or
 * `format` accepts less than the old one (each change counts as breaking); a path parameter's name (the URL stays the same).
 */
export function compareDocuments(before: Document, after: Document): Change[] {
  const changes: Change[] = [];
  for (const diff of compareOpenApi(before, after).diffs) {
    const verdict = reclass(diff, before, after);
    if (verdict !== 'ignore') changes.push({ kind: verdict, where: whereOf(diff.path), what: whatOf(diff) });
  }
  const seen = new Set<string>();
  return changes.filter(({ kind, where, what }) => {
    const key = `${kind} ${where} ${what}`;
    return !seen.has(key) && seen.add(key);
  });
}

function reclass(diff: Diff, before: Document, after: Document): Verdict {
  const path: Path = diff.path;
  const last = path.at(-1);
  const isProperty = path.at(-2) === 'properties';
  if (path[0] === 'info' || path[0] === 'tags') return 'ignore';
  // Components count where an operation uses them.
  if (path[0] === 'components')
    return path[1] === 'securitySchemes' && diff.type === 'breaking' ? 'breaking' : 'ignore';
  if (path[0] === 'servers') return last === 'description' ? 'ignore' : 'breaking';
  // Generated clients, commands and tools carry the operation's name.
  if (path.length === 4 && last === 'operationId') return 'breaking';
  if (path[3] === 'x-error-codes') return 'non-breaking';
  if (path.includes('examples') && !path.includes('properties')) return 'ignore';
  const isRequest = path[3] === 'requestBody' || path[3] === 'parameters' || path[2] === 'parameters';
  const typeAt = path.lastIndexOf('type');
  if (typeAt > 0 && typeAt >= path.length - 2 && path[typeAt - 1] !== 'properties' && path.includes('schema'))
    return typeVerdict(before, after, path.slice(0, typeAt), isRequest);
  if (!isProperty && (last === 'additionalProperties' || last === 'unevaluatedProperties'))
    return isRequest && diff.after === false ? 'breaking' : 'non-breaking';
  if (!isProperty && last === 'const') return diff.action === 'add' && !isRequest ? 'non-breaking' : 'breaking';
  // Bodies are strict: a removed field is refused as unknown.
  if (isRequest && isProperty && diff.action === 'remove') return 'breaking';
  // The list of error codes is open to the caller, as the document says.
  if (
    !isRequest &&
    path.join('/').includes('/properties/code/enum/') &&
    diff.action === 'add' &&
    Number(path[4]) >= 400
  )
    return 'non-breaking';
  if (diff.type === 'annotation') return 'ignore';
  return diff.type === 'breaking' ? 'breaking' : 'non-breaking';
}

/** A request may allow more types than before, a response may have fewer. */
function typeVerdict(before: Document, after: Document, schema: Path, isRequest: boolean): Verdict {
  const was = typesAt(before, schema);
  const is = typesAt(after, schema);
  if (!was || !is) return 'breaking';
  const covers = (wide: Set<string>, narrow: Set<string>) =>
    [...narrow].every((type) => wide.has(type) || (type === 'integer' && wide.has('number')));
  if (covers(was, is) && covers(is, was)) return 'ignore';
  return (isRequest ? covers(is, was) : covers(was, is)) ? 'non-breaking' : 'breaking';
}

const allTypes = ['null', 'boolean', 'object', 'array', 'number', 'string'];

function typesAt(document: Document, path: Path): Set<string> | undefined {
  let node: unknown = document;
  for (const key of [undefined, ...path]) {
    if (key !== undefined) node = (node as Record<string, unknown> | undefined)?.[key];
    for (let hops = 0; hops < 20 && isReference(node); hops++)
      node = node.$ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[pointerKey(part)], document);
  }
  if (typeof node !== 'object' || node === null) return undefined;
  const { type } = node as { type?: string | string[] };
  return new Set(type === undefined ? allTypes : [type].flat());
}

function isReference(node: unknown): node is { $ref: string } {
  return typeof (node as { $ref?: unknown } | null)?.$ref === 'string';
}

function whereOf([root, path, method]: Path): string {
  if (root !== 'paths') return String(root);
  return method === undefined ? String(path) : `${String(method).toUpperCase()} ${path}`;
}

function whatOf({ path, action, description, before, after }: Diff): string {
  const place = path.slice(3).join('/');
  const shown = (value: unknown) => {
    const text = JSON.stringify(value) ?? 'nothing';
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  };
  const values = action === 'replace' ? `: ${shown(before)} became ${shown(after)}` : '';
  const said = description?.replace(/^\[(\w+)\]/, (_, verb) => verb.toLowerCase());
  return said?.trim() && !said.startsWith(' in') ? `${said}${values}` : `${action} ${place}${values}`;
}
