/**
 * Arguments of tools that are sent as HTTP headers too, so that gateways can route a call without reading its body: `x-mcp-header` of
 * revision 2026-07-28
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters).
 */

type Json = Record<string, unknown>;

/** An argument that is sent as a header too. */
interface MirroredArgument {
  /** The names of properties that lead to the argument. */
  path: readonly string[];
  header: string;
}

/** A schema whose `x-mcp-header` breaks the rules: the tool must not be offered. */
export class InvalidHeaderNote extends Error {
  override readonly name = 'InvalidHeaderNote';
}

const NOTE = 'x-mcp-header';
const PREFIX = 'Mcp-Param-';
/** https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Keywords of JSON Schema that hold a schema or a list of schemas, and those that hold schemas by name. */
const HOLDING_SCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
]);
const HOLDING_NAMED: ReadonlySet<string> = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** Of all headers of one call. Common servers take 8 KiB of headers, the others of the request among them. */
const MAX_HEADER_BYTES = 6_000;

const known = new WeakMap<object, readonly MirroredArgument[] | InvalidHeaderNote>();

function note(schema: Json, path: readonly string[], isReachable: boolean): MirroredArgument {
  const header = schema[NOTE];
  const place = path.join('.') || 'the schema itself';
  if (!isReachable || path.length === 0) throw new InvalidHeaderNote(`${NOTE} is not allowed at ${place}.`);
  if (typeof header !== 'string' || !TOKEN.test(header)) {
    throw new InvalidHeaderNote(`${NOTE} of ${place} is not the name of a header.`);
  }
  if (!TYPES.has(schema.type))
    throw new InvalidHeaderNote(`${NOTE} is on ${place}, which is no text, integer or boolean.`);
  return { path: [...path], header };
}

/**
 * Adds the arguments that a schema at `path` wants as headers. A list of tools may have schemas with 50,000 values, and this is done in one
 * turn of the event loop: only the keywords that a schema has are looked at, and there is one path.
 */
function addNotes(schema: unknown, path: string[], isReachable: boolean, found: MirroredArgument[]): void {
  if (typeof schema !== 'object' || schema === null) return;
  const fields = schema as Json;
  for (const keyword of Object.keys(fields)) {
    const held = fields[keyword];
    if (keyword === NOTE) found.push(note(fields, path, isReachable));
    else if (keyword === 'properties' || HOLDING_NAMED.has(keyword)) {
      const isOwn = keyword === 'properties';
      const named = Object(held) as Json;
      for (const name of Object.keys(named)) {
        path.push(isOwn ? name : keyword);
        addNotes(named[name], path, isReachable && isOwn, found);
        path.pop();
      }
    } else if (HOLDING_SCHEMAS.has(keyword)) {
      path.push(keyword);
      for (const inner of Array.isArray(held) ? held : [held]) addNotes(inner, path, false, found);
      path.pop();
    }
  }
}

function read(inputSchema: object): readonly MirroredArgument[] | InvalidHeaderNote {
  try {
    const found: MirroredArgument[] = [];
    addNotes(inputSchema, [], true, found);
    const names = new Set(found.map(({ header }) => header.toLowerCase()));
    return names.size === found.length ? found : new InvalidHeaderNote(`${NOTE} has one name twice.`);
  } catch (error) {
    if (error instanceof InvalidHeaderNote) return error;
    throw error;
  }
}

/**
 * The arguments that a tool wants as headers too. Read once for each schema.
 * @throws {InvalidHeaderNote}
 */
export function mirroredArguments(inputSchema: object): readonly MirroredArgument[] {
  const found = known.get(inputSchema) ?? read(inputSchema);
  known.set(inputSchema, found);
  if (found instanceof InvalidHeaderNote) throw found;
  return found;
}

/** The text of a value; undefined for one that has none and is not sent. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  const isSent =
    typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isSent ? String(value) : undefined;
}

/** A value as it is sent: itself when it is plain ASCII, else base64 of its UTF-8 between two marks. */
function encoded(text: string): string {
  const isPlain =
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !(text.startsWith('=?base64?') && text.endsWith('?='));
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/**
 * The headers that repeat arguments of a call. An argument that is null or absent has none. Undefined when they are longer than servers
 * take.
 * @throws {InvalidHeaderNote}
 */
export function argumentHeaders(inputSchema: object, args: Json): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  let size = 0;
  for (const { path, header } of mirroredArguments(inputSchema)) {
    const value = path.reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Json)[name] : undefined),
      args,
    );
    const text = textOf(value);
    if (text === undefined) continue;
    const name = `${PREFIX}${header}`;
    headers[name] = encoded(text);
    size += name.length + headers[name].length + 4;
    if (size > MAX_HEADER_BYTES) return undefined;
  }
  return headers;
}
