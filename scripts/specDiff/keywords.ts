import type { Schema } from '../../spec/rules/types.ts';
import { both, type Finding, flipped, isEqual, type Move, moved } from './change.ts';
import type { AnySchema } from './normalForm.ts';
import {
  anyChange,
  count,
  format,
  highest,
  type KeywordRule,
  knownValues,
  lowest,
  mediaTypes,
  multipleOf,
  oneWay,
  shift,
  standard,
  type,
  uniqueItems,
  upperBound,
  values,
} from './valueRules.ts';

/** A schema that restricts: new it narrows, gone it widens. */
const restriction: KeywordRule = (before, after, spot, keyword) => {
  if (before === undefined) return [moved(spot.place, 'narrower', `\`${keyword}\` is new`, keyword)];
  if (after === undefined) return [moved(spot.place, 'wider', `\`${keyword}\` is gone`, keyword)];
  return spot.compare(before as AnySchema, after as AnySchema, `${spot.place} (${keyword})`);
};

const items: KeywordRule = (before, after, { place, compare }) =>
  compare((before ?? {}) as AnySchema, (after ?? {}) as AnySchema, `${place}[]`);

const not: KeywordRule = (before, after, spot, keyword) =>
  before === undefined || after === undefined
    ? restriction(before, after, spot, keyword)
    : flipped(spot.compare(before as AnySchema, after as AnySchema, `${spot.place} (not)`));

/** Restrictions by name: of fields, of patterns of names, or of what comes with a field. */
const restrictionsByName: KeywordRule = (before = {}, after = {}, spot, keyword) => {
  const [was, is] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) => {
    if (isEqual(was[name], is[name])) return [];
    const place = `${spot.place} (${keyword} of \`${name}\`)`;
    if (was[name] === undefined) return [moved(place, 'narrower', 'is new', keyword, name)];
    if (is[name] === undefined) return [moved(place, 'wider', 'is gone', keyword, name)];
    if (!Array.isArray(was[name])) return spot.compare(was[name] as AnySchema, is[name] as AnySchema, place);
    return namesIn(was[name], is[name] as string[]).map(([move, each]) =>
      moved(
        place,
        move,
        `\`${each}\` is ${move === 'narrower' ? 'needed now' : 'not needed any more'}`,
        keyword,
        name,
        each,
      ),
    );
  });
};

function namesIn(before: string[], after: string[]): [Move, string][] {
  return [
    ...after.filter((name) => !before.includes(name)).map((name): [Move, string] => ['narrower', name]),
    ...before.filter((name) => !after.includes(name)).map((name): [Move, string] => ['wider', name]),
  ];
}

const condition: KeywordRule = (_before, _after, spot) => {
  const { before, after, place, compare } = spot;
  if (before.if === undefined) return [moved(place, 'narrower', 'a condition (`if`) is new', 'if')];
  if (after.if === undefined) return [moved(place, 'wider', 'a condition (`if`) is gone', 'if')];
  if (!isEqual(before.if, after.if)) return [moved(place, 'other', 'the condition (`if`) is another', 'if')];
  return (['then', 'else'] as const).flatMap((branch) =>
    isEqual(before[branch], after[branch])
      ? []
      : compare(before[branch] ?? {}, after[branch] ?? {}, `${place} (${branch})`),
  );
};

const properties: KeywordRule = (_before, _after, { place, before, after, compare }) => {
  const [was, is] = [before.properties ?? {}, after.properties ?? {}];
  // A schema without a type, as below `then`, only restricts fields that another one has.
  const isRestriction = before.type === undefined && after.type === undefined;
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name): Finding[] => {
    const at = `${place}.${name}`;
    const isNeeded = after.required?.includes(name) ?? false;
    const [old, current] = [was[name], is[name]];
    if (isRestriction) return compare(old ?? {}, current ?? {}, at);
    // A field that goes is refused by a strict body and missed by readers.
    if (current === undefined) return [both(at, 'breaking', 'is gone')];
    if (old === undefined) return [newField(at, isNeeded, before, current)];
    return compare(old, current, at);
  });
};

function newField(place: string, isNeeded: boolean, before: Schema, schema: AnySchema): Finding {
  if (isNeeded)
    return { place, what: 'is a new field, required', names: [], request: 'breaking', response: 'addition' };
  // An open object took any value under this name, so the field takes fewer values than before.
  const isRestricted = isOpen(before) && (typeof schema === 'boolean' ? !schema : Object.keys(schema).length > 0);
  const request = isRestricted ? 'breaking' : 'addition';
  const what = isRestricted ? 'is a new field where any was accepted' : 'is a new field';
  return { place, what, names: [], request, response: 'addition' };
}

function isOpen({ additionalProperties, unevaluatedProperties }: Schema): boolean {
  return additionalProperties !== false && unevaluatedProperties !== false;
}

const required: KeywordRule = (_before, _after, { place, before, after }) =>
  namesIn(before.required ?? [], after.required ?? []).flatMap(([move, name]) => {
    const [was, is] = [before.properties?.[name], after.properties?.[name]];
    // A field that is new or gone is one finding, of `properties`.
    if ((was === undefined) !== (is === undefined)) return [];
    return [moved(`${place}.${name}`, move, move === 'narrower' ? 'is required now' : 'may be absent now', 'required')];
  });

/** What an object takes beside its fields. Readers accept new fields, so that opening or closing an object is nothing to them. */
const furtherFields: KeywordRule = (before, after, { place, compare }, keyword) => {
  const [was, is] = [before ?? true, after ?? true] as [AnySchema, AnySchema];
  if (isEqual(was, is)) return [];
  const finding = (request: 'breaking' | 'addition', what: string): Finding[] => [
    { place, what, names: [keyword], request, response: 'addition' },
  ];
  if (is === false) return finding('breaking', 'takes no further fields any more');
  if (was === false) return finding('addition', 'takes further fields');
  return compare(was, is, `${place}.*`);
};

const allOf: KeywordRule = (before = [], after = [], spot) => {
  const [was, is] = [before as Schema[], after as Schema[]];
  const rest = (from: Schema[], within: Schema[]) => from.filter((one) => !within.some((each) => isEqual(each, one)));
  const [gone, added] = [rest(was, is), rest(is, was)];
  const pairs = Math.min(gone.length, added.length);
  return [
    ...gone.slice(0, pairs).flatMap((part, index) => spot.compare(part, added[index] ?? {}, spot.place)),
    ...gone.slice(pairs).map(() => moved(spot.place, 'wider', 'a part of `allOf` is gone', 'allOf')),
    ...added.slice(pairs).map(() => moved(spot.place, 'narrower', 'a part of `allOf` is new', 'allOf')),
  ];
};

type SchemaOfKind = { propertyName?: string; mapping?: Record<string, string | Schema> };

/** Which schema goes with which value of a neighbour. To say it for the first time changes nothing: prose said it before. */
const schemasByKind: KeywordRule = (before, after, { place, compare }, keyword) => {
  if (before === undefined) return [both(place, 'addition', `\`${keyword}\` is new`, keyword)];
  if (after === undefined) return [both(place, 'breaking', `\`${keyword}\` is gone`, keyword)];
  const [was, is] = [before as SchemaOfKind, after as SchemaOfKind];
  const findings: Finding[] = [];
  if (was.propertyName !== is.propertyName)
    findings.push(
      both(
        place,
        'breaking',
        `${keyword} goes by \`${is.propertyName}\` and no longer by \`${was.propertyName}\``,
        keyword,
      ),
    );
  for (const name of new Set([...Object.keys(was.mapping ?? {}), ...Object.keys(is.mapping ?? {})])) {
    const [old, current] = [was.mapping?.[name], is.mapping?.[name]];
    const at = `${place} (${name})`;
    if (old === undefined) findings.push(both(at, 'addition', `schema of \`${name}\` is new`, keyword, name));
    else if (current === undefined) findings.push(both(at, 'breaking', `schema of \`${name}\` is gone`, keyword, name));
    else findings.push(...compare(asSchema(old), asSchema(current), at));
  }
  return findings;
};

function asSchema(node: string | Schema): Schema {
  return typeof node === 'string' ? { $ref: node } : node;
}

/** It tells generators which alternative to read. What is valid is said by the alternatives. */
const discriminator: KeywordRule = (before, _after, { place }, keyword) => {
  const kind = before === undefined ? 'addition' : 'generated code';
  return [both(place, kind, `\`${keyword}\` is ${before === undefined ? 'new' : 'another'}`, keyword)];
};

/** It names the values of an enum for generators: values on the wire stay, names in generated code change. */
const valueNames: KeywordRule = (before, after, { place }, keyword) => [
  both(place, 'generated code', shift(keyword, before, after), keyword),
];

/** A keyword without a rule counts as breaking, and the line says why. */
export const unknownKeyword: KeywordRule = (before, after, { place }, keyword) => [
  both(
    place,
    'breaking',
    `${shift(keyword, before, after)} (no rule knows this keyword: counted as breaking)`,
    keyword,
  ),
];

/**
 * What a change of each keyword means, in requests and in responses. `anyOf`, `oneOf` and `$ref` are compared by `schemas.ts`.
 * `then` and `else` belong to `if`. A keyword that is not here is compared by `unknownKeyword`.
 */
export const RULES: Record<string, KeywordRule> = {
  type,
  enum: values,
  'x-extensible-enum': knownValues,
  minimum: lowest,
  exclusiveMinimum: lowest,
  minLength: count,
  minItems: count,
  minProperties: count,
  minContains: anyChange,
  maximum: highest,
  exclusiveMaximum: highest,
  maxLength: upperBound,
  maxItems: upperBound,
  maxProperties: upperBound,
  maxContains: upperBound,
  'x-max-bytes': upperBound,
  'x-max-json-length': upperBound,
  multipleOf,
  pattern: anyChange,
  format,
  uniqueItems,
  contentMediaType: mediaTypes,
  contentEncoding: anyChange,
  default: standard,
  readOnly: oneWay('request'),
  writeOnly: oneWay('response'),
  properties,
  required,
  additionalProperties: furtherFields,
  unevaluatedProperties: furtherFields,
  items,
  unevaluatedItems: restriction,
  contains: restriction,
  propertyNames: restriction,
  contentSchema: restriction,
  not,
  patternProperties: restrictionsByName,
  dependentSchemas: restrictionsByName,
  dependentRequired: restrictionsByName,
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: () => [],
  else: () => [],
  allOf,
  discriminator,
  'x-enum-varnames': valueNames,
  'x-schemas': schemasByKind,
};
