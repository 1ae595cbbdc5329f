import { dirname, relative } from 'node:path';
import type {
  Content,
  Location,
  Operation,
  Parameter,
  PathItem,
  RequestBody,
  Response,
  RuleContext,
  Schema,
} from './types.ts';

export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** A node and its place, after its `$ref` was followed. */
export type Placed<T> = { node: T; location: Location };

export type PlacedOperation = Placed<Operation> & { method: string; parameters: Placed<Parameter>[] };

/** The operations of a Path Item, each with the parameters of its own and of the path. */
export function operationsOf(item: PathItem, context: RuleContext): PlacedOperation[] {
  const { location } = context;
  return methods
    .filter((method) => item[method])
    .map((method) => {
      const node = item[method] as Operation;
      const own = list(node.parameters, location.child([method, 'parameters']));
      const shared = list(item.parameters, location.child('parameters'));
      const parameters = [...shared, ...own].map((each) => follow(each, context));
      return { method, node, location: location.child(method), parameters };
    });
}

function list<T>(nodes: T[] | undefined, location: Location): Placed<T>[] {
  return (nodes ?? []).map((node, index) => ({ node, location: location.child(index) }));
}

/** Follows a node's `$ref`; a node without one, or with one that does not resolve, is returned as it is. */
export function follow<T>({ node, location }: Placed<T>, context: RuleContext): Placed<T> {
  const isReference = typeof node === 'object' && node !== null && '$ref' in node;
  if (!isReference) return { node, location };
  const target = context.resolve(node, location.source.absoluteRef);
  return target.node && target.location ? { node: target.node, location: target.location } : { node, location };
}

export function requestBodyOf(
  { node, location }: PlacedOperation,
  context: RuleContext,
): Placed<RequestBody> | undefined {
  return node.requestBody && follow({ node: node.requestBody, location: location.child('requestBody') }, context);
}

export function responsesOf(
  { node, location }: PlacedOperation,
  context: RuleContext,
): (Placed<Response> & { status: string })[] {
  return Object.entries(node.responses ?? {}).map(([status, response]) => ({
    status,
    ...follow({ node: response, location: location.child(['responses', status]) }, context),
  }));
}

export function schemasOf(content: Content | undefined, location: Location): Placed<Schema>[] {
  return Object.entries(content ?? {}).flatMap(([type, media]) =>
    media.schema ? [{ node: media.schema, location: location.child(['content', type, 'schema']) }] : [],
  );
}

/** The schemas of what a client sends: those of an operation's parameters and body. */
export function requestSchemas(operation: PlacedOperation, context: RuleContext): Placed<Schema>[] {
  const body = requestBodyOf(operation, context);
  const parameters = operation.parameters.flatMap(({ node, location }) =>
    node.schema ? [{ node: node.schema, location: location.child('schema') }] : [],
  );
  return [...parameters, ...(body ? schemasOf(body.node.content, body.location) : [])];
}

/** The schemas of what a client receives: those of all responses of an operation. */
export function responseSchemas(operation: PlacedOperation, context: RuleContext): Placed<Schema>[] {
  return responsesOf(operation, context).flatMap(({ node, location }) => schemasOf(node.content, location));
}

/** A schema met on a walk. `wanted` is false for a member of an `allOf`, which is only a part of a schema. */
export type Met = Placed<Schema> & { part: boolean };

/**
 * Visits a schema and all schemas in it, each once for one `seen`. Conditions (`if`, `then`, `else`, `not`) are left out:
 * they refine what is described elsewhere. With `named` false, so are the schemas that an open object names (`x-schemas`).
 */
export function walkSchema(
  start: Placed<Schema>,
  context: RuleContext,
  seen: Set<Schema>,
  visit: (met: Met) => void,
  { part = false, named = true }: { part?: boolean; named?: boolean } = {},
): void {
  const { node, location } = follow(start, context);
  if (typeof node !== 'object' || node === null || seen.has(node)) return;
  seen.add(node);
  visit({ node, location, part });
  const inner = (schema: Schema | boolean | undefined, path: (string | number)[], isPart = false) => {
    if (typeof schema === 'object' && schema !== null)
      walkSchema({ node: schema, location: location.child(path) }, context, seen, visit, { part: isPart, named });
  };
  for (const keyword of ['properties', 'patternProperties'] as const)
    for (const [name, schema] of Object.entries(node[keyword] ?? {})) inner(schema, [keyword, name]);
  for (const keyword of ['items', 'additionalProperties', 'unevaluatedProperties', 'contentSchema'] as const)
    inner(node[keyword], [keyword]);
  for (const keyword of ['prefixItems', 'anyOf', 'oneOf'] as const)
    for (const [index, schema] of (node[keyword] ?? []).entries()) inner(schema, [keyword, index]);
  for (const [index, schema] of (node.allOf ?? []).entries()) inner(schema, ['allOf', index], true);
  if (named)
    for (const [value, schema] of Object.entries(node['x-schemas']?.mapping ?? {}))
      inner(schema, ['x-schemas', 'mapping', value]);
}

/** Whether the `type` of a schema allows values of this type. */
export function allows(schema: Schema, type: string): boolean {
  return [schema.type].flat().includes(type);
}

/** The folder of a tag: its name in kebab case. */
export function kebab(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** The path of a node's file, relative to the folder of the index. */
export function fileOf(location: Location, index: string): string {
  return relative(dirname(index), location.source.absoluteRef).replaceAll('\\', '/');
}
