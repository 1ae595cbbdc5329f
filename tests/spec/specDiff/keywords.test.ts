import type { Kind } from '../../../scripts/specDiff/change.ts';
import { compareDocuments } from '../../../scripts/specDiff/compare.ts';
import type { Document, Schema } from '../../../spec/rules/types.ts';

type AnySchema = Schema | boolean;

const named: Record<string, Schema> = {
  Plain: { type: 'object', properties: { id: { type: 'string' } } },
  Strict: { type: 'object', properties: { id: { type: 'string', maxLength: 5 } } },
  Colour: { type: 'string', enum: ['red', 'blue'] },
};

/** A document of one operation that has the schema as its request body or as its answer. */
function documentWith(schema: AnySchema, direction: 'request' | 'response'): Document {
  const content = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } };
  const post = {
    operationId: 'sendThing',
    ...(direction === 'request' && { requestBody: { required: true, ...content } }),
    responses: { 200: direction === 'response' ? content : {} },
  };
  const schemas = { Thing: { type: 'object', required: ['field'], properties: { field: schema } }, ...named };
  return { openapi: '3.1.1', paths: { '/things': { post } }, components: { schemas } };
}

function worstKind(before: AnySchema, after: AnySchema, direction: 'request' | 'response'): Kind | 'none' {
  return compareDocuments(documentWith(before, direction), documentWith(after, direction))[0]?.kind ?? 'none';
}

const text = { type: 'string' };
const object = { type: 'object', additionalProperties: false, properties: { a: text, b: text } };
const red = { type: 'object', required: ['kind'], properties: { kind: { const: 'red' } } };
const blue = { type: 'object', required: ['kind'], properties: { kind: { const: 'blue' } } };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
/** `then` as a literal key would make an object that `await` takes for a promise. */
const then = (schema: Schema) => Object.fromEntries([['then', schema]]);
const nullable = (name: string) => ({ anyOf: [ref(name), { type: 'null' }] });

const open = (...known: string[]) => ({ type: 'string', 'x-extensible-enum': known });
const byKind = (name: string) => ({
  type: 'object',
  'x-schemas': { propertyName: 'kind', mapping: { ONE: ref(name) } },
});

type Row = [what: string, before: AnySchema, after: AnySchema, request: Kind | 'none', response: Kind | 'none'];

/** What gets narrower breaks senders, what gets wider breaks readers. */
const narrower: [what: string, before: AnySchema, after: AnySchema][] = [
  ['a type of two goes', { type: ['string', 'integer'] }, text],
  ['number becomes integer', { type: 'number' }, { type: 'integer' }],
  ['any value becomes a text', {}, text],
  ['null goes', { type: ['string', 'null'] }, text],
  ['null goes beside a reference', nullable('Plain'), ref('Plain')],
  ['null goes from an enum', { type: ['string', 'null'], enum: ['a', null] }, { type: 'string', enum: ['a'] }],
  ['a text gets an enum', text, { type: 'string', enum: ['a', 'b'] }],
  ['a text gets a const', text, { type: 'string', const: 'a' }],
  ['minLength comes', text, { type: 'string', minLength: 1 }],
  ['minLength rises', { type: 'string', minLength: 1 }, { type: 'string', minLength: 2 }],
  ['maxLength comes', text, { type: 'string', maxLength: 9 }],
  ['maxLength falls', { type: 'string', maxLength: 9 }, { type: 'string', maxLength: 8 }],
  ['pattern comes', text, { type: 'string', pattern: '^a' }],
  ['format comes', text, { type: 'string', format: 'uuid' }],
  ['minimum rises', { type: 'integer', minimum: 1 }, { type: 'integer', minimum: 2 }],
  ['minimum excludes itself', { type: 'number', minimum: 0 }, { type: 'number', exclusiveMinimum: 0 }],
  ['exclusiveMinimum comes', { type: 'number' }, { type: 'number', exclusiveMinimum: 0 }],
  ['maximum falls', { type: 'integer', maximum: 9 }, { type: 'integer', maximum: 8 }],
  ['exclusiveMaximum falls', { type: 'number', exclusiveMaximum: 9 }, { type: 'number', exclusiveMaximum: 8 }],
  ['multipleOf gets a factor', { type: 'integer', multipleOf: 2 }, { type: 'integer', multipleOf: 4 }],
  ['minItems rises', { type: 'array', minItems: 1 }, { type: 'array', minItems: 2 }],
  ['maxItems comes', { type: 'array' }, { type: 'array', maxItems: 5 }],
  ['items must be unique', { type: 'array' }, { type: 'array', uniqueItems: true }],
  ['items get a type', { type: 'array' }, { type: 'array', items: text }],
  ['items get shorter', { type: 'array', items: text }, { type: 'array', items: { type: 'string', maxLength: 5 } }],
  ['contains comes', { type: 'array' }, { type: 'array', contains: text }],
  ['minProperties comes', { type: 'object' }, { type: 'object', minProperties: 1 }],
  ['maxProperties falls', { type: 'object', maxProperties: 3 }, { type: 'object', maxProperties: 2 }],
  ['a field becomes required', object, { ...object, required: ['a'] }],
  [
    'values of a map get shorter',
    { type: 'object', additionalProperties: text },
    { type: 'object', additionalProperties: { type: 'string', maxLength: 5 } },
  ],
  ['propertyNames comes', { type: 'object' }, { type: 'object', propertyNames: { maxLength: 5 } }],
  ['patternProperties comes', { type: 'object' }, { type: 'object', patternProperties: { '^x': text } }],
  ['dependentRequired comes', object, { ...object, dependentRequired: { a: ['b'] } }],
  [
    'dependentRequired names one more',
    { ...object, dependentRequired: { a: [] } },
    { ...object, dependentRequired: { a: ['b'] } },
  ],
  ['dependentSchemas comes', object, { ...object, dependentSchemas: { a: { required: ['b'] } } }],
  [
    'dependentSchemas demands more',
    { ...object, dependentSchemas: { a: {} } },
    { ...object, dependentSchemas: { a: { required: ['b'] } } },
  ],
  ['a condition comes', object, { ...object, if: { required: ['a'] }, ...then({ required: ['b'] }) }],
  [
    'then demands more',
    { ...object, if: { required: ['a'] }, ...then({}) },
    { ...object, if: { required: ['a'] }, ...then({ properties: { b: { minLength: 1 } } }) },
  ],
  [
    'else comes',
    { ...object, if: { required: ['a'] } },
    { ...object, if: { required: ['a'] }, else: { required: ['b'] } },
  ],
  ['not comes', text, { type: 'string', not: { const: 'x' } }],
  ['not gets wider', { type: 'string', not: { maxLength: 2 } }, { type: 'string', not: { maxLength: 3 } }],
  ['an alternative goes', { anyOf: [text, { type: 'integer' }] }, text],
  ['a union comes beside fields', object, { ...object, oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
  [
    'alternatives must not overlap',
    { anyOf: [text, { type: 'string', minLength: 2 }] },
    { oneOf: [text, { type: 'string', minLength: 2 }] },
  ],
  [
    'a part of allOf comes',
    ref('Plain'),
    { allOf: [ref('Plain'), { properties: { id: { maxLength: 3 } }, type: 'object' }] },
  ],
  ['contentSchema comes', text, { type: 'string', contentSchema: object }],
  [
    'contentSchema demands more',
    { type: 'string', contentSchema: object },
    { type: 'string', contentSchema: { ...object, required: ['a'] } },
  ],
  [
    'a media type goes',
    { type: 'string', contentMediaType: 'image/png, image/jpeg' },
    { type: 'string', contentMediaType: 'image/png' },
  ],
  ['x-max-bytes falls', { type: 'string', 'x-max-bytes': 9 }, { type: 'string', 'x-max-bytes': 8 }],
];

/** What means something else than its reverse, or means the same in both directions. */
const others: Row[] = [
  ['an enum loses a value', { enum: ['a', 'b'] }, { enum: ['a'] }, 'breaking', 'generated code'],
  ['an enum gets a value', { enum: ['a'] }, { enum: ['a', 'b'] }, 'addition', 'breaking'],
  ['a value of an enum is renamed', { enum: ['a', 'b'] }, { enum: ['a', 'c'] }, 'breaking', 'breaking'],
  ['a const is another', { const: 'a' }, { const: 'b' }, 'breaking', 'breaking'],
  ['a text becomes a number', text, { type: 'integer' }, 'breaking', 'breaking'],
  [
    'a pattern is another',
    { type: 'string', pattern: '^a' },
    { type: 'string', pattern: '^b' },
    'breaking',
    'breaking',
  ],
  [
    'a format is another',
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
    'breaking',
    'breaking',
  ],
  [
    'multipleOf is another',
    { type: 'integer', multipleOf: 2 },
    { type: 'integer', multipleOf: 3 },
    'breaking',
    'breaking',
  ],
  [
    'contentEncoding is another',
    { type: 'string', contentEncoding: 'base64' },
    { type: 'string', contentEncoding: 'base64url' },
    'breaking',
    'breaking',
  ],
  [
    'a condition is another',
    { ...object, if: { required: ['a'] } },
    { ...object, if: { required: ['b'] } },
    'breaking',
    'breaking',
  ],
  ['an integer is of 32 bits', { type: 'integer' }, { type: 'integer', format: 'int32' }, 'addition', 'addition'],
  [
    'an integer is of 64 bits',
    { type: 'integer' },
    { type: 'integer', format: 'int64' },
    'generated code',
    'generated code',
  ],
  [
    '64 bits become 32',
    { type: 'integer', format: 'int64' },
    { type: 'integer', format: 'int32' },
    'generated code',
    'generated code',
  ],
  ['a field is new', object, { ...object, properties: { ...object.properties, c: text } }, 'addition', 'addition'],
  [
    'a required field is new',
    object,
    { ...object, required: ['c'], properties: { ...object.properties, c: text } },
    'breaking',
    'addition',
  ],
  [
    'a field is new where any was accepted',
    { type: 'object', properties: {} },
    { type: 'object', properties: { c: text } },
    'breaking',
    'addition',
  ],
  ['a field is gone', object, { ...object, properties: { a: text } }, 'breaking', 'breaking'],
  ['an object closes', { type: 'object' }, { type: 'object', additionalProperties: false }, 'breaking', 'addition'],
  ['an object opens', { type: 'object', additionalProperties: false }, { type: 'object' }, 'addition', 'addition'],
  [
    'a field is written only',
    object,
    { ...object, properties: { a: text, b: { type: 'string', writeOnly: true } } },
    'addition',
    'breaking',
  ],
  [
    'a field is read only',
    object,
    { ...object, properties: { a: text, b: { type: 'string', readOnly: true } } },
    'breaking',
    'addition',
  ],
  ['a default is another', { type: 'integer', default: 1 }, { type: 'integer', default: 2 }, 'breaking', 'none'],
  ['a default comes', { type: 'integer' }, { type: 'integer', default: 2 }, 'generated code', 'none'],
  ['a file part is called binary', text, { type: 'string', format: 'binary' }, 'generated code', 'generated code'],
  ['a type gets a name', named.Colour ?? {}, ref('Colour'), 'generated code', 'generated code'],
  ['an open list gets a value', open('a'), open('a', 'b'), 'addition', 'addition'],
  ['an open list loses a value', open('a', 'b'), open('a'), 'generated code', 'generated code'],
  ['a value of an open list is renamed', open('a', 'b'), open('a', 'c'), 'breaking', 'breaking'],
  ['a list opens', { type: 'string', enum: ['a'] }, open('a', 'b'), 'addition', 'breaking'],
  ['a list closes', open('a'), { type: 'string', enum: ['a'] }, 'breaking', 'addition'],
  ['a text names its known values', text, open('a'), 'addition', 'addition'],
  ['the schemas of kinds are named', { type: 'object' }, byKind('Plain'), 'addition', 'addition'],
  ['the schemas of kinds are no longer named', byKind('Plain'), { type: 'object' }, 'breaking', 'breaking'],
  ['a kind has another schema', byKind('Plain'), byKind('Strict'), 'breaking', 'generated code'],
  [
    'values get names for generators',
    { enum: ['a'] },
    { enum: ['a'], 'x-enum-varnames': ['A'] },
    'generated code',
    'generated code',
  ],
  ['a keyword without a rule comes', text, { type: 'string', 'x-unheard-of': 1 }, 'breaking', 'breaking'],
  ['a keyword without a rule changes', { $dynamicRef: '#a' }, { $dynamicRef: '#b' }, 'breaking', 'breaking'],
];

/** Two ways to say the same. */
const equal: [what: string, before: AnySchema, after: AnySchema][] = [
  ['texts', text, { type: 'string', description: 'A text.', examples: ['a'], deprecated: true, $comment: 'x' }],
  ['the order of types', { type: ['string', 'null'] }, { type: ['null', 'string'] }],
  ['the order of values', { enum: ['a', 'b'] }, { enum: ['b', 'a'] }],
  ['the order of required fields', { ...object, required: ['a', 'b'] }, { ...object, required: ['b', 'a'] }],
  ['the order of alternatives', { anyOf: [text, { type: 'integer' }] }, { anyOf: [{ type: 'integer' }, text] }],
  ['const and an enum of one', { const: 'a' }, { enum: ['a'] }],
  ['true and an empty schema', true, {}],
  ['false and the negation of everything', false, { not: {} }],
  [
    'null as a type and as an alternative',
    { type: ['string', 'null'], maxLength: 3 },
    { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
  ],
  ['a reference and an allOf of one', ref('Plain'), { allOf: [ref('Plain')] }],
  [
    'an allOf and its parts merged',
    { allOf: [{ type: 'string' }, { maxLength: 3 }] },
    { type: 'string', maxLength: 3 },
  ],
  ['a union of one', { oneOf: [text] }, text],
  ['minLength 0 and none', text, { type: 'string', minLength: 0 }],
  [
    'bounds of integers',
    { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
    { type: 'integer', minimum: 1, maximum: 9 },
  ],
  ['anyOf and oneOf of alternatives that cannot overlap', { anyOf: [red, blue] }, { oneOf: [red, blue] }],
  ['additionalProperties true and none', { type: 'object', additionalProperties: true }, { type: 'object' }],
  ['uniqueItems false and none', { type: 'array' }, { type: 'array', uniqueItems: false }],
  ['an alternative that another one covers', text, { anyOf: [text, { type: 'string', maxLength: 3 }] }],
];

const rows: Row[] = [
  ...narrower.map(([what, before, after]): Row => [what, before, after, 'breaking', 'addition']),
  ...narrower.map(([what, before, after]): Row => [`${what}, reversed`, after, before, 'addition', 'breaking']),
  ...others,
  ...equal.map(([what, before, after]): Row => [what, before, after, 'none', 'none']),
  ...equal.map(([what, before, after]): Row => [`${what}, reversed`, after, before, 'none', 'none']),
];

test.each(rows)('%s', (_what, before, after, request, response) => {
  expect({ request: worstKind(before, after, 'request'), response: worstKind(before, after, 'response') }).toEqual({
    request,
    response,
  });
});

test('a keyword without a rule is named as such', () => {
  const [change] = compareDocuments(
    documentWith(text, 'request'),
    documentWith({ ...text, 'x-unheard-of': 1 }, 'request'),
  );
  expect(change?.what).toContain('no rule knows this keyword: counted as breaking');
});

test('a recursive schema ends, and is compared on every level', () => {
  const tree = (name: string, limit: number): Document => {
    const document = documentWith(ref(name), 'request');
    const schemas = {
      ...document.components?.schemas,
      [name]: {
        type: 'object',
        properties: { text: { type: 'string', maxLength: limit }, branches: { type: 'array', items: ref(name) } },
      },
    };
    return { ...document, components: { schemas } };
  };
  expect(compareDocuments(tree('Tree', 5), tree('Tree', 5))).toEqual([]);
  expect(compareDocuments(tree('Tree', 5), tree('Node', 4)).map(({ kind, where }) => `${kind} ${where}`)).toEqual([
    'breaking Node.text',
    'generated code Node',
  ]);
});
