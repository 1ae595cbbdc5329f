import { createAjv, createRequestAjv } from '../../core/ajv.ts';

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const unknownFields = Object.fromEntries(many(5_000, (index) => [`k${index}`, 1]));

const SCHEMAS: [string, object, unknown][] = [
  ['unknown fields', { type: 'object', properties: { a: {} }, additionalProperties: false }, unknownFields],
  ['unevaluated fields', { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, unknownFields],
  ['wrong fields', { additionalProperties: { type: 'string' } }, unknownFields],
  ['wrong names', { propertyNames: { maxLength: 1 } }, unknownFields],
  ['names of a pattern', { patternProperties: { '^k': { type: 'string' } } }, unknownFields],
  ['items', { items: { type: 'string' } }, many(5_000, Number)],
  ['items of items', { items: { items: { type: 'string' } } }, many(50, () => many(100, Number))],
  ['items by reference', { $defs: { a: { type: 'string' } }, items: { $ref: '#/$defs/a' } }, many(5_000, Number)],
  ['items after others', { prefixItems: [{}], items: { type: 'string' } }, many(5_000, Number)],
];

test.each(SCHEMAS)('stops after a hundred errors: %s', (_, schema, value) => {
  const ajv = createRequestAjv();
  expect(ajv.validate(schema, value)).toBe(false);
  expect(ajv.errors?.length).toBeGreaterThanOrEqual(100);
  expect(ajv.errors?.length).toBeLessThan(400);
  const all = createAjv();
  expect(all.validate(schema, value)).toBe(false);
  expect(all.errors?.length).toBeGreaterThanOrEqual(4_999);
  expect(all.errors?.slice(0, 100)).toEqual(ajv.errors?.slice(0, 100));
});

test('an alternative with very many errors does not spoil the one that fits', () => {
  const numbers = many(5_000, Number);
  const strings = { items: { type: 'string' } };
  for (const schema of [
    { anyOf: [strings, {}] },
    { oneOf: [strings, {}] },
    { not: strings },
    { if: strings, else: {} },
  ]) {
    expect(createRequestAjv().validate(schema, numbers)).toBe(true);
  }
});

test('refuses the keyword in which the early end could refuse a valid value', () => {
  expect(() => createRequestAjv().compile({ contains: { type: 'string' } })).toThrow('contains');
});
