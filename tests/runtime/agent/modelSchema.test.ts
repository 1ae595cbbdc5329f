import { inputFromModel, schemaForModel } from '../../../runtime/agent/modelSchema.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

const told = (schema: Record<string, unknown>) => schemaForModel({ type: 'object', ...schema });

describe('the schema that a model gets', () => {
  test('is the schema, where every provider takes it', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', enum: ['x'] }, b: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(schemaForModel(schema)).toEqual(schema);
  });

  test('has properties in every object and items in every array', () => {
    expect(told({})).toEqual({ type: 'object', properties: {} });
    const nested = { list: { type: 'array' }, any: true, inner: { type: ['object', 'null'] } };
    expect(told({ properties: nested }).properties).toEqual({
      list: { type: 'array', items: {} },
      any: {},
      inner: { type: ['object', 'null'], properties: {} },
    });
    const deeper = { a: { type: 'array', items: { type: 'object', additionalProperties: { type: 'array' } } } };
    expect(told({ properties: deeper }).properties).toEqual({
      a: {
        type: 'array',
        items: { type: 'object', properties: {}, additionalProperties: { type: 'array', items: {} } },
      },
    });
  });

  test('says lists of schemas as 2020-12 does, names of properties as strings, and no dialect', () => {
    const properties = {
      pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: { type: 'null' } },
      open: { type: 'array', items: [{ type: 'string' }] },
      any: { type: 'array', items: true },
      map: {
        type: 'object',
        propertyNames: { type: ['string', 'null'] },
        $schema: 'http://json-schema.org/draft-07/schema#',
      },
      kept: { type: 'object', propertyNames: { pattern: '^a' } },
    };
    expect(told({ properties }).properties).toEqual({
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: { type: 'null' } },
      open: { type: 'array', prefixItems: [{ type: 'string' }], items: {} },
      any: { type: 'array', items: {} },
      map: { type: 'object', properties: {} },
      kept: { type: 'object', properties: {}, propertyNames: { pattern: '^a' } },
    });
  });

  test.each(['anyOf', 'oneOf'])('has no %s at the top: what either takes may be given', (keyword) => {
    const [one, two] = [
      { properties: { id: { type: 'string' } }, required: ['id'] },
      { properties: { name: { type: 'string' } } },
    ];
    expect(told({ properties: { x: {} }, required: ['x'], [keyword]: [one, two] })).toEqual({
      type: 'object',
      properties: { x: {}, id: { type: 'string' }, name: { type: 'string' } },
      required: ['x'],
    });
  });

  test('has what all of allOf and a reference at the top want', () => {
    const schema = {
      $ref: '#/$defs/base~1one',
      allOf: [{ properties: { b: {} }, required: ['b'] }],
      not: { required: ['c'] },
      $defs: { 'base/one': { properties: { a: { type: 'string' } }, required: ['a'] } },
    };
    const { $defs, ...rest } = told(schema);
    expect(rest).toEqual({ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] });
    expect($defs).toBeDefined();
  });

  test('requires no property that there is not', () => {
    expect(told({ properties: { a: {} }, required: ['a', 'gone'] }).required).toEqual(['a']);
  });

  test('has names that Anthropic takes, and the tool gets its own back', () => {
    const schema = {
      type: 'object',
      properties: { $top: {}, 'filter[id]': { type: 'string' }, _top: {}, plain: {}, ['k'.repeat(70)]: {} },
      required: ['filter[id]'],
    };
    const { properties, required } = schemaForModel(schema);
    const names = Object.keys(properties as object);
    expect(names).toEqual(['_top_2', 'filter_id_', '_top', 'plain', 'k'.repeat(64)]);
    expect(required).toEqual(['filter_id_']);
    expect(
      inputFromModel(schema, { _top_2: 1, filter_id_: 'x', _top: 2, plain: 3, ['k'.repeat(64)]: 4, more: 5 }),
    ).toEqual({
      $top: 1,
      'filter[id]': 'x',
      _top: 2,
      plain: 3,
      ['k'.repeat(70)]: 4,
      more: 5,
    });
  });

  test('is made once for a schema, and leaves it as it is', () => {
    const schema = { type: 'object', properties: { list: { type: 'array' } } };
    const before = structuredClone(schema);
    expect(schemaForModel(schema)).toBe(schemaForModel(schema));
    expect(schema).toEqual(before);
  });

  test('is made of hostile schemas too, quickly', async () => {
    const doubled: Record<string, unknown> = {};
    for (let level = 0; level < 60; level += 1) {
      const next = { $ref: `#/$defs/n${level + 1}` };
      doubled[`n${level}`] = { allOf: [next, next, { allOf: [next, next] }] };
    }
    let deep: Record<string, unknown> = { type: 'object' };
    for (let level = 0; level < 5000; level += 1) deep = { type: 'object', properties: { deep } };
    const own = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {}}');
    const ms = await mainThreadMs(() => {
      expect(told({ $ref: '#/$defs/n0', $defs: doubled }).properties).toEqual({});
      expect(told({ $ref: '#' }).properties).toEqual({});
      expect(JSON.stringify(schemaForModel(deep)).length).toBeLessThan(5000);
      expect(Object.keys(told({ properties: own }).properties as object)).toEqual(['__proto__', 'constructor']);
    });
    expect(ms).toBeLessThan(1000);
  });

  test('is left out when it is larger than that of a tool of the workspace may be; the tool stays', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { type: 'string' }]),
    );
    expect(told({ properties })).toEqual({ type: 'object', properties: {} });
  });

  test('has a key for each of many names that become one, without trying all keys for each', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
    let keys: string[] = [];
    const ms = await mainThreadMs(() => {
      keys = Object.keys(
        told({ properties: Object.fromEntries(names.map((name) => [name, {}])) }).properties as object,
      );
    });
    expect(new Set(keys).size).toBe(2_000);
    expect(keys.slice(0, 3)).toEqual(['_', '__2', '__3']);
    expect(ms).toBeLessThan(200);
  });
});
