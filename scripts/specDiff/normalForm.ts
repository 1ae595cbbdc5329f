import { pointerKey } from '../../core/jsonPointer.ts';
import type { Document, Schema } from '../../spec/rules/types.ts';
import { isEqual } from './change.ts';

/** A schema as the document has it; `true` and `false` are schemas too. */
export type AnySchema = Schema | boolean;

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string'];
const UNIONS = ['anyOf', 'oneOf'] as const;

/** The name of the component that a reference names, or undefined. */
export function refName(ref: unknown): string | undefined {
  return typeof ref === 'string' ? ref.match(/^#\/components\/\w+\/([^/]+)$/)?.[1] : undefined;
}

/** What a reference names, or the node itself. A reference to nothing is an empty object. */
export function resolved<T extends object>(document: Document, node: T | undefined): T {
  let at: unknown = node ?? {};
  for (let hops = 0; hops < 20 && typeof (at as { $ref?: unknown }).$ref === 'string'; hops++) {
    const path = (at as { $ref: string }).$ref.slice(2).split('/').map(pointerKey);
    at = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document) ?? {};
  }
  return at as T;
}

/** Whether `null` is valid. */
export function allowsNull(schema: AnySchema, document: Document): boolean {
  if (typeof schema === 'boolean') return schema;
  const { $ref, type, enum: values, anyOf, oneOf, allOf, not } = schema;
  const allows = (part: AnySchema) => allowsNull(part, document);
  if ($ref !== undefined && !allows(resolved(document, { $ref }))) return false;
  if (type !== undefined && ![type].flat().includes('null')) return false;
  if (values !== undefined && !values.includes(null)) return false;
  if ('const' in schema && schema.const !== null) return false;
  if (not !== undefined && allows(not)) return false;
  if (anyOf?.some(allows) === false || oneOf?.some(allows) === false) return false;
  return allOf?.every(allows) ?? true;
}

/**
 * One form for schemas that mean the same: no boolean schemas, no `null` among the types, values and alternatives (`allowsNull`
 * answers for it), `const` as an enum of one, no `allOf` or union of a single schema, integers with inclusive bounds.
 */
export function normalForm(schema: AnySchema): Schema {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} };
  let form: Schema = { ...schema };
  if (Array.isArray(form.type)) {
    const types = form.type.filter((type) => type !== 'null').toSorted();
    form.type = types.length === 1 ? types[0] : types;
  }
  if ('const' in form) {
    form.enum = [form.const];
    delete form.const;
  }
  form.enum = form.enum?.filter((value) => value !== null);
  if (form.enum === undefined) delete form.enum;
  for (const union of UNIONS) {
    const branches = form[union]?.filter((branch) => !isNullOnly(branch));
    if (branches !== undefined) form[union] = branches;
  }
  for (const key of [...UNIONS, 'allOf'] as const) {
    const [only, ...more] = form[key] ?? [];
    if (only === undefined || more.length > 0) continue;
    const { [key]: _, ...rest } = form;
    const merged = merge(normalForm(only), rest);
    if (merged) form = merged;
  }
  return withInclusiveBounds(form);
}

function isNullOnly(schema: AnySchema): boolean {
  return typeof schema === 'object' && (schema.type === 'null' || schema.const === null);
}

function withInclusiveBounds(form: Schema): Schema {
  if (form.type !== 'integer') return form;
  const { exclusiveMinimum: low, exclusiveMaximum: high, ...rest } = form;
  const { minimum = -Infinity, maximum = Infinity } = rest as { minimum?: number; maximum?: number };
  if (typeof low === 'number') rest.minimum = Math.max(minimum, low + 1);
  if (typeof high === 'number') rest.maximum = Math.min(maximum, high - 1);
  return rest;
}

/** Both schemas as one, or undefined when they say different things of the same keyword. A default of the second counts. */
export function merge(first: Schema, second: Schema): Schema | undefined {
  const merged: Schema = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const present = merged[key];
    if (present === undefined || key === 'default' || isEqual(present, value)) merged[key] = value;
    else if (key === 'required') merged.required = [...new Set([...(present as string[]), ...(value as string[])])];
    else if (key === 'properties') {
      const names = Object.entries(value as Record<string, Schema>);
      if (names.some(([name, each]) => !isEqual((present as Record<string, Schema>)[name] ?? each, each)))
        return undefined;
      merged.properties = { ...(present as Record<string, Schema>), ...(value as Record<string, Schema>) };
    } else return undefined;
  }
  return merged;
}

/** The schema with the target of its `$ref` and the parts of its `allOf` merged into it, as far as they agree. */
export function expanded(schema: AnySchema, document: Document, depth = 0): Schema {
  let form = normalForm(schema);
  if (depth > 20) return form;
  if (form.$ref !== undefined) {
    const { $ref, ...rest } = form;
    const target = expanded(resolved<Schema>(document, { $ref }), document, depth + 1);
    form = merge(target, rest) ?? { ...rest, allOf: [target, ...(rest.allOf ?? [])] };
  }
  for (const part of form.allOf ?? []) {
    const { allOf = [], ...rest } = form;
    const others = allOf.filter((each) => each !== part);
    const merged = merge(rest, expanded(part, document, depth + 1));
    if (merged) form = { ...merged, ...(others.length > 0 && { allOf: others }) };
  }
  return form;
}

/** The types that a schema allows, `null` aside. */
export function typesOf(schema: Schema): string[] {
  if (schema.type !== undefined) return [schema.type].flat();
  if (schema.enum === undefined) return TYPES.slice(1);
  return [...new Set(schema.enum.map((value) => (Array.isArray(value) ? 'array' : typeof value)))].toSorted();
}
