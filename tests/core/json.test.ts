import { canonicalJson, isDeeperThan, isStorableJson, toStorableJson } from '../../core/json.ts';
import { boundPassed, JsonMeter } from '../../core/jsonBounds.ts';

test('depth counts objects and arrays, empty ones too', () => {
  expect(isDeeperThan('text', 0)).toBe(false);
  expect(isDeeperThan({}, 0)).toBe(true);
  expect(isDeeperThan([{}], 1)).toBe(true);
  expect(isDeeperThan([{ a: 1 }, { b: null }], 2)).toBe(false);
});

test('a value that nests too deep for recursion is measured all the same', () => {
  const deep = Array.from({ length: 100_000 }).reduce<unknown>((inner) => [inner], 1);
  expect(isDeeperThan(deep, 99_999)).toBe(true);
  expect(isDeeperThan(deep, 100_000)).toBe(false);
});

test('a storable copy has no NUL and no half of a surrogate pair, in values and in names', () => {
  expect(toStorableJson({ 'a\0': ['b\ud83d', '😀', '\\u0000'] }, 2)).toEqual({
    'a\ufffd': ['b\ufffd', '😀', '\\u0000'],
  });
  expect(toStorableJson([[]], 1)).toBeUndefined();
});

test.each([
  ['\0', false],
  ['\ud83d', false],
  ['\\\0', false],
  ['\\u0000', true],
  ['😀', true],
])('JSON of %j is storable: %p', (text, storable) => {
  expect(isStorableJson(JSON.stringify(text))).toBe(storable);
});

test.each<[unknown, number]>([
  [1, 1],
  ['[{,"\\', 1],
  [[], 1],
  [[[], {}, [1]], 5],
  [{ a: 1, '"]': { b: [2, 'x,y', null] } }, 7],
])('%j has %i values', (value, count) => {
  for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    expect(boundPassed(Buffer.from(json), { values: count - 1, depth: 9 })).toBe('values');
    expect(boundPassed(Buffer.from(json), { values: count, depth: 9 })).toBeUndefined();
  }
});

test('JSON is as deep as its arrays and objects in each other', () => {
  const json = Buffer.from('[[], {"a": [{}]}, [[]], "[[[[{{{{"]');
  expect(boundPassed(json, { values: 99, depth: 3 })).toBe('depth');
  expect(boundPassed(json, { values: 99, depth: 4 })).toBeUndefined();
});

test('JSON may come in pieces, cut anywhere', () => {
  const json = Buffer.from(JSON.stringify({ a: ['\\"[', { b: [] }], '\\': 1 }));
  for (let at = 0; at < json.length; at += 1) {
    for (const [values, passed] of [
      [5, 'values'],
      [6, undefined],
    ] as const) {
      const meter = new JsonMeter({ values, depth: 9 });
      expect(meter.add(json.subarray(0, at)) ?? meter.add(json.subarray(at)) ?? meter.end()).toBe(passed);
    }
  }
});

test('canonical JSON does not depend on the order of properties', () => {
  const text = (value: unknown) => [...canonicalJson(value)].join('');
  expect(text({ b: 1, a: [{ d: null, c: undefined, '10': 1, '9': [] }], '': {} })).toBe(
    '{"":{},"a":[{"9":[],"10":1,"d":null}],"b":1}',
  );
  expect(text([undefined, 'x"'])).toBe('[null,"x\\""]');
});
