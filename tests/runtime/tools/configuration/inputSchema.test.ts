import { checkInputs } from '../../../../runtime/tools/configuration/inputSchema.ts';

const object = (properties: object, more = {}) => ({ type: 'object', properties, ...more });

describe('inputs', () => {
  test('valid inputs are returned with the defaults; the object that was passed is not changed', () => {
    const given = { a: 1 };
    const schema = object({ a: { type: 'integer' }, b: { default: 'x' } });
    expect(checkInputs(schema, given)).toEqual({ inputs: { a: 1, b: 'x' } });
    expect(given).toEqual({ a: 1 });
  });

  test('without a schema all inputs are valid', () => {
    expect(checkInputs(undefined, { a: [1] })).toEqual({ inputs: { a: [1] } });
  });

  test.each([
    [{ a: 'x' }, 'a must be integer'],
    [{}, 'a is required'],
    [{ a: 1, b: 2 }, 'b is not a known field'],
    [{ a: 1, c: { d: 'x' } }, 'c/d must match format "email"'],
    [{ a: 1, e: 'z' }, 'e must be one of x, y'],
    [{ a: 1, f: 'z' }, 'f must be "on"'],
    [{ a: 1, g: 0 }, 'g must be null'],
  ])('%j is refused with the reason', (inputs, why) => {
    const schema = object(
      {
        a: { type: 'integer' },
        c: { properties: { d: { format: 'email' } } },
        e: { enum: ['x', 'y'] },
        f: { const: 'on' },
        g: { const: null },
      },
      { required: ['a'], additionalProperties: false },
    );
    expect(checkInputs(schema, inputs)).toEqual({ problem: `The inputs do not fit the tool: ${why}.` });
  });

  test('a required field named like a built-in must be given', () => {
    expect(checkInputs({ type: 'object', required: ['constructor'] }, {})).toHaveProperty('problem');
  });

  test('a number is not text: nothing is coerced', () => {
    expect(checkInputs(object({ a: { type: 'number' } }), { a: '7' })).toHaveProperty('problem');
  });

  test('draft-07 is read as draft-07', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object({ a: { items: [{ type: 'number' }] } }),
    };
    expect(checkInputs(schema, { a: ['x'] })).toHaveProperty('problem');
  });

  test('a schema that refers to itself without end is a failure of the tool', () => {
    expect(checkInputs({ type: 'object', $ref: '#' }, {})).toHaveProperty('problem');
  });
});
