import { checkInputs } from '../../../../runtime/tools/configuration/inputSchema.ts';
import { TimeLimitExceeded, withinTime } from '../../../../runtime/tools/timeLimit.ts';

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

  test('a pattern that backtracks for ever is ended', () => {
    const begun = performance.now();
    const checked = checkInputs(object({ a: { pattern: '^(a+)+$' } }), { a: `${'a'.repeat(60)}!` });
    expect(checked).toEqual({ problem: 'The inputs take too long to check against the inputSchema.' });
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test('a schema that refers to itself without end is a failure of the tool', () => {
    expect(checkInputs({ type: 'object', $ref: '#' }, {})).toHaveProperty('problem');
  });

  test('work that was interrupted once succeeds the next time', () => {
    const schema = object({ a: { type: 'string', pattern: '^(b+)+$' } });
    checkInputs(schema, { a: `${'b'.repeat(60)}!` });
    expect(checkInputs(schema, { a: 'bbb' })).toEqual({ inputs: { a: 'bbb' } });
  });
});

describe('withinTime', () => {
  test('returns what the work returns, and throws what it throws', () => {
    expect(withinTime(1_000, () => 7)).toBe(7);
    expect(() =>
      withinTime(1_000, () => {
        throw new RangeError('mine');
      }),
    ).toThrow('mine');
  });

  test('ends a loop', () => {
    expect(() =>
      withinTime(20, () => {
        for (;;);
      }),
    ).toThrow(TimeLimitExceeded);
  });
});
