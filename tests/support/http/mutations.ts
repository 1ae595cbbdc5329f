import { resolve, type Schema } from './exampleRequest.ts';

/** One way to break a body: what was done, where, and the body as it is then. */
export interface Mutation {
  what: string;
  /** JSON Pointer below the body. */
  pointer: string;
  body: unknown;
}

const CANDIDATES = ['x', 1.5, true, [], {}, null] as const;

function typesOf(schema: Schema): Set<string> | undefined {
  const resolved = resolve(schema);
  const options = resolved.anyOf ?? resolved.oneOf;
  if (options) {
    const each = options.map(typesOf);
    return each.includes(undefined) ? undefined : new Set(each.flatMap((types) => [...(types ?? [])]));
  }
  return resolved.type === undefined ? undefined : new Set([resolved.type].flat());
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The schemas that a value at this place may have: itself, or its alternatives. */
function alternatives(schema: Schema): Schema[] {
  const resolved = resolve(schema);
  return [
    resolved,
    ...[...(resolved.anyOf ?? []), ...(resolved.oneOf ?? []), ...(resolved.allOf ?? [])].flatMap(alternatives),
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeOf(value) === 'object';
}

/** A copy of `body` with `value` at the path; the objects and arrays on the way are there. */
function withValue(body: unknown, path: readonly string[], value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(body)) return body.map((item, i) => (String(i) === first ? withValue(item, rest, value) : item));
  return { ...(body as object), [first]: withValue((body as Record<string, unknown>)[first], rest, value) };
}

/**
 * Bodies that differ from a valid one in a single place, which the schema forbids: a value of every wrong type for every
 * field, an unknown field in every closed object, strings too long or not storable, numbers and lists out of bounds.
 */
export function* mutationsOf(schema: Schema, body: unknown): Generator<Mutation> {
  yield* at(schema, body, []);
  yield* change(body, [], 'is an array', [body]);
  for (const value of ['x', 1.5, true, null]) yield* change(body, [], `is ${JSON.stringify(value)}`, value);

  function* change(base: unknown, path: readonly string[], what: string, value: unknown): Generator<Mutation> {
    yield { what, pointer: path.map((key) => `/${key}`).join(''), body: withValue(base, path, value) };
  }

  function* at(here: Schema, value: unknown, path: readonly string[]): Generator<Mutation> {
    const options = alternatives(here);
    if (isObject(value)) {
      const closed = options.some((each) => each.additionalProperties === false);
      if (closed) {
        yield* change(body, [...path, 'surprise'], 'is unknown', 1);
        yield* change(body, [...path, 'constructor'], 'is unknown', 1);
      }
      const fields = new Map(options.flatMap((each) => Object.entries(each.properties ?? {})));
      for (const [name, field] of fields) {
        yield* ofField(field, [...path, name]);
        if (value[name] !== undefined) yield* at(field, value[name], [...path, name]);
      }
    }
    if (Array.isArray(value) && value.length > 0) {
      const items = options.find((each) => each.items)?.items;
      if (items) {
        yield* ofField(items, [...path, '0']);
        yield* at(items, value[0], [...path, '0']);
      }
    }
  }

  function* ofField(field: Schema, path: readonly string[]): Generator<Mutation> {
    const types = typesOf(field);
    if (!types) return;
    for (const wrong of CANDIDATES) {
      const type = typeOf(wrong);
      if (!types.has(type)) yield* change(body, path, `is ${JSON.stringify(wrong)}`, wrong);
    }
    const options = alternatives(field);
    if (types.has('string')) {
      yield* change(body, path, 'has NUL', 'a\u0000b');
      yield* change(body, path, 'has half a surrogate pair', 'a\ud800');
      const most = Math.max(...options.map((each) => each.maxLength ?? 0));
      if (most > 0) yield* change(body, path, 'is too long', 'a'.repeat(most + 1));
      if (options.some((each) => each.enum)) yield* change(body, path, 'is not in the list', 'no-such-value');
      if (options.some((each) => each.format === 'uuid')) {
        yield* change(body, path, 'is no canonical UUID', 'urn:uuid:0199a3f2-0000-7000-8000-00000000dead');
      }
    }
    const numbers = options.find((each) => each.maximum !== undefined || each.minimum !== undefined);
    if (numbers?.maximum !== undefined) yield* change(body, path, 'is too large', numbers.maximum + 1);
    if (numbers?.minimum !== undefined) yield* change(body, path, 'is too small', numbers.minimum - 1);
    const list = options.find((each) => each.maxItems !== undefined);
    if (list?.maxItems)
      yield* change(
        body,
        path,
        'has too many items',
        Array.from({ length: list.maxItems + 1 }, (_, i) => `a${i}`),
      );
  }
}
