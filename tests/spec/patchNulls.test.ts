import { readDocument } from '../../core/document.ts';
import { fieldsOf, takesNull } from '../../scripts/bundle/patchNulls.ts';
import type { Document, Operation } from '../../spec/rules/types.ts';
import { bodySchema, resolve } from '../support/http/exampleRequest.ts';

const document = readDocument() as Document;
const patches = Object.values(document.paths ?? {}).flatMap(({ patch }) => (patch ? [patch as Operation] : []));

describe.each(patches.map((operation) => [operation.operationId ?? '', operation] as const))('%s', (id, operation) => {
  const fields = Object.entries(fieldsOf(document, operation));

  test('lists exactly the fields that cannot be null', () => {
    const listed = /\n\nCannot be `null`: (.*)\.$/m.exec(operation.description ?? '')?.[1]?.match(/\w+/g) ?? [];
    expect(fields.length).toBeGreaterThan(0);
    expect(listed).toEqual(fields.filter(([, schema]) => !takesNull(document, schema)).map(([name]) => name));
  });

  test('says what null does where a field takes it', () => {
    const schema = bodySchema(id as Parameters<typeof bodySchema>[0]) ?? {};
    const { description = '' } = resolve(schema) as { description?: string };
    const silent = fields.filter(([, field]) => takesNull(document, field) && !field.description?.includes('`null`'));
    if (!description.includes('`null`')) expect(silent.map(([name]) => name)).toEqual([]);
  });
});

test.each([
  [true, { type: ['string', 'null'] }],
  [true, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  [true, { description: 'anything' }],
  [false, { type: 'string' }],
  [false, { type: ['string', 'null'], enum: ['a'] }],
  [false, { const: 'a' }],
  [false, { allOf: [{ type: 'string' }, { type: ['string', 'null'] }] }],
])('takesNull is %s for %j', (takes, schema) => {
  expect(takesNull(document, schema)).toBe(takes);
});
