import { findSchemaFaults, fitInputs } from '../../../../runtime/tools/configuration/fitInputs.ts';
import { mainThreadMs } from '../../../support/processorTime.ts';

const object = (properties: object, more = {}) => ({ type: 'object', properties, ...more });
const run = { context: { workspaceId: 'w' }, signal: undefined };

test.each([
  ['small', {}],
  ['with a pattern', { b: { pattern: '^[a-z]+$' } }],
  ['large', Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: 'string' }]))],
])(
  'inputs are filled in and refused alike, whether a thread checks them or not: a schema that is %s',
  async (_, more) => {
    const schema = object({ a: { type: 'integer' }, d: { default: 'x' }, ...more });
    expect(await fitInputs(schema, { a: 1 }, run)).toEqual({ a: 1, d: 'x' });
    await expect(fitInputs(schema, { a: 'x' }, run)).rejects.toThrow(
      'The inputs do not fit the tool: a must be integer.',
    );
  },
);

test('a pattern that backtracks for ever is ended, without the event loop waiting for it; the next check succeeds', async () => {
  const schema = object({ a: { type: 'string', pattern: '^(b+)+$' } });
  const hostile = { a: `${'b'.repeat(60)}!` };
  const ms = await mainThreadMs(() =>
    expect(fitInputs(schema, hostile, run)).rejects.toThrow('take too long to check'),
  );
  expect(ms).toBeLessThan(400);
  expect(await fitInputs(schema, { a: 'bbb' }, run)).toEqual({ a: 'bbb' });
});

test('a check ends with its signal', async () => {
  const schema = object({ a: { pattern: '^(b+)+$' } });
  const signal = AbortSignal.timeout(200);
  const hostile = { a: `${'b'.repeat(60)}!` };
  await expect(fitInputs(schema, hostile, { ...run, signal })).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a check of another workspace does not wait for the slow ones of one', async () => {
  const schema = object({ a: { type: 'string', pattern: '^(b+)+$' } });
  const hostile = { a: `${'b'.repeat(60)}!` };
  const slow = Array.from({ length: 16 }, () => fitInputs(schema, hostile, run).catch(() => undefined));
  let ended = 0;
  for (const each of slow) void each.then(() => (ended += 1));
  expect(await fitInputs(schema, { a: 'bbb' }, { ...run, context: { workspaceId: 'other' } })).toEqual({ a: 'bbb' });
  expect(ended).toBeLessThan(8);
  await Promise.all(slow);
});

test('faults of a schema are found in a thread', async () => {
  expect(await findSchemaFaults(object({ a: { type: 'no' } }), '/body/s', 'w')).toContainEqual(
    expect.objectContaining({ path: '/body/s/properties/a/type' }),
  );
  expect(await findSchemaFaults(object({ a: { type: 'string' } }), '/body/s', 'w')).toEqual([]);
});
