import type { Document, Schema } from '../../spec/rules/types.ts';
import { listedOperations } from '../specDiff/reach.ts';
import { type DocumentMutant, type DocumentPath, partAt } from './documentMutant.ts';
import { operationMutants } from './operationMutants.ts';

const BOUNDS =
  'minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties maxProperties x-max-bytes x-max-json-length'.split(
    ' ',
  );
const BELOW =
  'items not if then else contains propertyNames contentSchema additionalProperties unevaluatedProperties'.split(' ');
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas'];
const LISTS = ['anyOf', 'oneOf', 'allOf'];

/** Every mutant of a bundled document. Texts are no mutants. */
export function documentMutants(document: Document): DocumentMutant[] {
  const names = Object.keys(document.components?.schemas ?? {});
  const roots: DocumentPath[] = names.map((name) => ['components', 'schemas', name]);
  for (const [name, parameter] of Object.entries(document.components?.parameters ?? {}))
    if ((parameter as { schema?: unknown }).schema) roots.push(['components', 'parameters', name, 'schema']);
  for (const [name, header] of Object.entries(document.components?.headers ?? {}))
    if ((header as { schema?: unknown }).schema) roots.push(['components', 'headers', name, 'schema']);
  for (const { url, method, operation } of listedOperations(document.paths))
    for (const [index, parameter] of ((operation.parameters ?? []) as { schema?: unknown }[]).entries())
      if (parameter.schema) roots.push(['paths', url, method, 'parameters', index, 'schema']);
  return [...roots.flatMap((path) => schemaMutants(document, path, names)), ...operationMutants(document)];
}

function schemaMutants(document: Document, path: DocumentPath, names: string[]): DocumentMutant[] {
  const schema = partAt<Schema | boolean>(document, path);
  if (typeof schema === 'boolean') return [];
  const group = String(path[2]).startsWith('Stream') ? 'event: ' : '';
  const mutants: DocumentMutant[] = [];
  const add = (kind: string, detail: unknown, edit: (schema: Schema) => void) =>
    mutants.push({
      kind: group + kind,
      place: `${path.slice(1).join('/')} ${String(detail)}`.trim(),
      apply: (copy) => edit(partAt<Schema>(copy, path)),
    });
  fieldMutants(schema, add);
  valueMutants(schema, names, add);
  const below: DocumentPath[] = [
    ...BELOW.filter((key) => typeof schema[key] === 'object').map((key) => [key]),
    ...BY_NAME.flatMap((key) => Object.keys(schema[key] ?? {}).map((name) => [key, name])),
    ...LISTS.flatMap((key) => ((schema[key] ?? []) as Schema[]).map((_, index) => [key, index])),
  ];
  return [...mutants, ...below.flatMap((keys) => schemaMutants(document, [...path, ...keys], names))];
}

type Add = (kind: string, detail: unknown, edit: (schema: Schema) => void) => void;

function fieldMutants(schema: Schema, add: Add): void {
  const { properties = {}, required = [] } = schema;
  for (const name of required)
    add('required dropped', name, (copy) => copy.required?.splice(copy.required.indexOf(name), 1));
  for (const name of Object.keys(properties)) {
    if (!required.includes(name))
      add('required added', name, (copy) => {
        copy.required = [...(copy.required ?? []), name];
      });
    add('field dropped', name, (copy) => {
      delete copy.properties?.[name];
      copy.required = copy.required?.filter((each) => each !== name);
      if (copy.required === undefined) delete copy.required;
    });
    add('field renamed', name, (copy) => {
      const { [name]: field = {}, ...others } = copy.properties ?? {};
      copy.properties = { ...others, [`${name}X`]: field };
      if (copy.required) copy.required = copy.required.map((each) => (each === name ? `${name}X` : each));
    });
  }
  if (Object.keys(properties).length > 0)
    add('field added', '', (copy) => Object.assign(copy.properties ?? {}, { mutated: { type: 'string' } }));
  if (schema.additionalProperties === false) add('object opened', '', (copy) => delete copy.additionalProperties);
  else if (schema.type === 'object')
    add('object closed', '', (copy) => {
      copy.additionalProperties = false;
    });
  if (schema.if)
    add('condition dropped', '', (copy) => {
      for (const key of ['if', 'then', 'else']) delete copy[key];
    });
  if (schema.writeOnly) add('writeOnly dropped', '', (copy) => delete copy.writeOnly);
}

function valueMutants(schema: Schema, names: string[], add: Add): void {
  for (const key of BOUNDS) {
    if (schema[key] === undefined) continue;
    add('bound raised', key, (copy) => {
      copy[key] = Number(copy[key]) + 1;
    });
    if (Number(schema[key]) > 0)
      add('bound lowered', key, (copy) => {
        copy[key] = Number(copy[key]) - 1;
      });
    add('bound dropped', key, (copy) => delete copy[key]);
  }
  listMutants(schema, 'enum', 'enum value', add);
  listMutants(schema, 'x-extensible-enum', 'known value', add);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.includes('null'))
    add('null dropped', '', (copy) => {
      copy.type = types.filter((type) => type !== 'null');
    });
  const isPlain = types.length > 0 && !types.includes('null') && schema.enum === undefined && !('const' in schema);
  if (isPlain)
    add('null added', '', (copy) => {
      copy.type = [...types, 'null'];
    });
  if (isPlain)
    add('type widened', types, (copy) => {
      copy.type = types.includes('integer') ? 'number' : [...types, types.includes('string') ? 'integer' : 'string'];
    });
  if (isPlain)
    add('type changed', types, (copy) => {
      copy.type = types.includes('string') ? 'integer' : 'string';
    });
  if (schema.format) add('format dropped', schema.format, (copy) => delete copy.format);
  if (schema.format)
    add('format changed', schema.format, (copy) => {
      copy.format = schema.format === 'date-time' ? 'date' : schema.format === 'int32' ? 'int64' : 'date-time';
    });
  if (schema.pattern) add('pattern dropped', '', (copy) => delete copy.pattern);
  if (schema.uniqueItems) add('uniqueItems dropped', '', (copy) => delete copy.uniqueItems);
  if (schema.default !== undefined)
    add('default changed', '', (copy) => {
      copy.default = copy.default === false ? true : `${copy.default}x`;
    });
  if (schema.contentMediaType)
    add('media type of a part changed', '', (copy) => {
      copy.contentMediaType = 'text/x-mutated';
    });
  const index = names.indexOf(String(schema.$ref).split('/').pop() ?? '');
  const other = names[(index + 1) % names.length];
  if (index >= 0)
    add('reference moved', other, (copy) => {
      copy.$ref = `#/components/schemas/${other}`;
    });
  for (const key of ['anyOf', 'oneOf'] as const)
    for (const [position, branch] of (schema[key] ?? []).entries())
      add(branch.type === 'null' ? 'null dropped' : 'alternative dropped', `${key}/${position}`, (copy) =>
        copy[key]?.splice(position, 1),
      );
}

function listMutants(schema: Schema, key: string, what: string, add: Add): void {
  const values = schema[key] as unknown[] | undefined;
  if (values === undefined) return;
  const listOf = (copy: Schema) => copy[key] as unknown[];
  add(`${what} added`, '', (copy) => listOf(copy).push('mutated'));
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    add(`${what} dropped`, value, (copy) => listOf(copy).splice(index, 1));
    add(`${what} renamed`, value, (copy) => listOf(copy).splice(index, 1, `${value}X`));
  }
}
