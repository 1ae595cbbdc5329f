import { RULES } from '../../../scripts/specDiff/keywords.ts';
import { resolved } from '../../../scripts/specDiff/normalForm.ts';
import { compareOperations } from '../../../scripts/specDiff/operations.ts';
import { SchemaComparison } from '../../../scripts/specDiff/schemas.ts';
import { withoutTexts } from '../../../scripts/specDiff/stripped.ts';
import type { Content, Document, Operation, Schema } from '../../../spec/rules/types.ts';
import { wholeDocument } from './realDocument.ts';

const document = withoutTexts(wholeDocument);
const BELOW = [
  'items',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'contentSchema',
  'additionalProperties',
];
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas'];

/** The keywords of a schema and of all schemas in it. */
function keywordsOf(schema: Schema | boolean): string[] {
  if (typeof schema === 'boolean') return [];
  const parts = [
    ...BELOW.map((key) => schema[key]),
    ...BY_NAME.flatMap((key) => Object.values(schema[key] ?? {})),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => list ?? []),
  ];
  const below = parts.filter((part) => typeof part === 'object' && part !== null);
  return [...Object.keys(schema), ...below.flatMap((part) => keywordsOf(part as Schema))];
}

test('every keyword of the schemas of the document has a rule', () => {
  const schemas = Object.values((document.components?.schemas ?? {}) as Record<string, Schema>);
  const known = [...Object.keys(RULES), '$ref', 'anyOf', 'oneOf', 'const'];
  const without = new Set(schemas.flatMap(keywordsOf).filter((keyword) => !known.includes(keyword)));
  expect([...without]).toEqual([]);
  expect(schemas.length).toBeGreaterThan(100);
});

/** The operation with nothing in its parameters, bodies and answers but what tells them apart. */
function bare(operation: Operation): Operation {
  const contents = (content: Content = {}) => Object.fromEntries(Object.keys(content).map((type) => [type, {}]));
  const { parameters = [], requestBody, responses = {} } = operation;
  const answers = Object.entries(responses).map(([status, response]) => [
    status,
    { content: contents(resolved(document, response).content) },
  ]);
  return {
    operationId: operation.operationId ?? '',
    parameters: parameters.map((each) => resolved(document, each)).map(({ name, in: place }) => ({ name, in: place })),
    ...(requestBody && { requestBody: { content: contents(requestBody.content) } }),
    responses: Object.fromEntries(answers),
  };
}

test('every part of operations, parameters, bodies and answers has a rule', () => {
  const paths = Object.entries(document.paths ?? {}).map(([url, item]) => [
    url,
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, bare(operation as Operation)])),
  ]);
  const before: Document = { ...document, paths: Object.fromEntries(paths) };
  const sides = { before, after: document, schemas: new SchemaComparison(before, document), isOurs: true };
  const unknown = compareOperations(sides, 'paths').filter(({ what }) => what.includes('no rule knows it'));
  expect([...new Set(unknown.map(({ place, names }) => `${place} ${names[0]}`))]).toEqual([]);
});
