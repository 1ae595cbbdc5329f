import type { Document, Schema } from '../../spec/rules/types.ts';
import type { CommandField } from './commandTypes.ts';
import { hyphenated } from './commandWords.ts';

/** Flags that every generated command has, or that say where its data comes from: no field may have these names. */
const TAKEN = new Set(
  'json profile api-key api-key-file base-url yes timeout help version body all null file idempotency-key no-color'.split(
    ' ',
  ),
);

/** Throws when two flags of the operation, or one and a flag of every command, have one name. */
export function checkFlags(operationId: string, fields: CommandField[]): void {
  const seen = new Set<string>(TAKEN);
  for (const { flag } of fields) {
    if (seen.has(flag)) throw new Error(`${operationId}: two of its flags are --${flag}`);
    seen.add(flag);
  }
}

/** The name of a field as people type it: `aiModelPublicId` → `ai-model-id`. No request has both `fooId` and `fooPublicId`. */
export function flagName(name: string): string {
  return hyphenated(name.replace(/PublicId(s?)$/, 'Id$1'));
}

/** The properties of a body as flags. */
export function flagsOf(document: Document, schema: Schema | undefined): CommandField[] {
  const required = new Set(schema?.required);
  return Object.entries(schema?.properties ?? {}).map(([name, each]) =>
    flagOf(document, name, each, { required: required.has(name) }),
  );
}

/** A schema of this name as a flag. `description` counts before that of the schema. */
export function flagOf(
  document: Document,
  name: string,
  node: Schema,
  { required, description }: { required?: unknown; description?: unknown; [more: string]: unknown } = {},
): CommandField {
  const { schema, nullable } = plainSchema(document, node);
  const items = schema.type === 'array' ? plainSchema(document, schema.items ?? {}).schema : undefined;
  const value = items ?? schema;
  const choices = value.enum?.filter((each) => typeof each === 'string');
  const about = firstSentences(description ?? node.description ?? schema.description);
  const open = value['x-extensible-enum'];
  return {
    name,
    flag: flagName(name),
    type: flagType(value),
    ...(items && { list: true as const }),
    ...(choices?.length && { choices }),
    ...(required === true && { required: true as const }),
    ...((nullable || flagType(value) === 'any') && { nullable: true as const }),
    about: Array.isArray(open) && !about ? `such as ${open.slice(0, 3).join(', ')}` : about,
  };
}

/** `any` where the schema says nothing of the type: a value that is no JSON is a text. */
export function flagType({ type, anyOf, oneOf, allOf, properties }: Schema): CommandField['type'] {
  if (type === undefined && !anyOf && !oneOf && !allOf && !properties) return 'any';
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json';
}

/** A schema without its references and without `null`. A value of more than one type stays as it is: it is given as JSON. */
export function plainSchema(document: Document, node: Schema): { schema: Schema; nullable: boolean } {
  const schema = resolveNode(document, node);
  const others = (schema.anyOf ?? schema.oneOf)?.filter((each) => each.type !== 'null');
  const nullable = Array.isArray(schema.type)
    ? schema.type.includes('null')
    : schema.anyOf?.some((each) => each.type === 'null') === true;
  const only = others?.length === 1 ? others[0] : schema.allOf?.length === 1 ? schema.allOf[0] : undefined;
  if (only)
    return {
      schema: {
        ...plainSchema(document, only).schema,
        ...(schema.description !== undefined && { description: schema.description }),
      },
      nullable,
    };
  const types = [schema.type ?? []].flat().filter((each) => each !== 'null');
  return { schema: { ...schema, type: types.length === 1 ? types[0] : undefined }, nullable };
}

/** The first sentence of a description, or two when the first is short. */
export function firstSentences(text: unknown): string {
  if (typeof text !== 'string') return '';
  const flat = text.replace(/\s+/g, ' ').trim();
  const [first = '', second = ''] = flat.split(/(?<=[.!?])\s(?=[A-Z`])/);
  return `${first}${first.length + second.length < 110 && second ? ` ${second}` : ''}`;
}

/** What a node stands for: it may be a reference to a component. */
export function resolveNode<T>(document: Document, node: T): T {
  let found = node as { $ref?: string } | undefined;
  while (found?.$ref) {
    const [, , kind = '', name = ''] = found.$ref.split('/');
    found = document.components?.[kind]?.[name] as { $ref?: string } | undefined;
  }
  return found as T;
}
