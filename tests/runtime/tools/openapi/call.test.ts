import type { ImportedEndpoint, ImportedParameter } from '../../../../db/stored/importedEndpoint.ts';
import { ToolFailure } from '../../../../runtime/tools/failure.ts';
import { requestOf } from '../../../../runtime/tools/openapi/call.ts';

function operationOf(parameters: Partial<ImportedParameter>[], more: Partial<ImportedEndpoint> = {}): ImportedEndpoint {
  return {
    operationId: 'op',
    description: '',
    method: 'GET',
    server: 'https://api.example.com/v1',
    path: '/orders',
    parameters: parameters.map((each) => ({
      input: 'x',
      name: 'x',
      in: 'query',
      style: 'form',
      explode: true,
      ...each,
    })),
    bodyType: null,
    inputSchema: {},
    ...more,
  };
}

describe('query parameters', () => {
  test.each([
    ['form', true, [1, 'b,c'], 'x=1&x=b%2Cc'],
    ['form', false, [1, 'b,c'], 'x=1,b%2Cc'],
    ['form', true, { a: 1, 'b&': 'c' }, 'a=1&b%26=c'],
    ['form', false, { a: 1, b: 2 }, 'x=a,1,b,2'],
    ['spaceDelimited', false, ['a', 'b'], 'x=a%20b'],
    ['pipeDelimited', false, ['a', 'b'], 'x=a%7Cb'],
    ['deepObject', true, { a: 1, b: 'c' }, 'x%5Ba%5D=1&x%5Bb%5D=c'],
    ['json', false, { a: [1] }, 'x=%7B%22a%22%3A%5B1%5D%7D'],
    ['deepObject', true, ['a', 'b&'], 'x%5B%5D=a&x%5B%5D=b%26'],
    [
      'deepObject',
      true,
      { a: { b: [{ c: 1 }, { c: null }], d: [] }, e: true },
      'x%5Ba%5D%5Bb%5D%5B0%5D%5Bc%5D=1&x%5Be%5D=true',
    ],
    ['deepObject', true, 17, 'x=17'],
    ['tabDelimited', false, ['a', 'b'], 'x=a%09b'],
    ['spaceDelimited', false, { a: 1 }, 'x=a%201'],
    ['form', true, 'a b&c', 'x=a%20b%26c'],
    ['form', true, false, 'x=false'],
  ] as const)('%s, explode %s, %j', (style, explode, value, query) => {
    expect(requestOf(operationOf([{ style, explode }]), { x: value }).url).toBe(
      `https://api.example.com/v1/orders?${query}`,
    );
  });

  // RFC 6570, 2.3, and OpenAPI 3.1.2, appendix C: lists and objects without a value are undefined, and so is null within them.
  test.each([
    [[], ''],
    [{}, ''],
    [[null], ''],
    [{ a: null }, ''],
    [['a', null, ''], { form: 'x=a,', exploded: 'x=a&x=', deepObject: 'x%5B%5D=a&x%5B%5D=', pipeDelimited: 'x=a%7C' }],
    [
      { a: null, b: 1 },
      { form: 'x=b,1', exploded: 'b=1', deepObject: 'x%5Bb%5D=1', pipeDelimited: 'x=b%7C1' },
    ],
  ])('of %j only what has a value is sent', (value, sent) => {
    for (const [style, explode, key] of [
      ['form', false, 'form'],
      ['form', true, 'exploded'],
      ['deepObject', true, 'deepObject'],
      ['pipeDelimited', false, 'pipeDelimited'],
    ] as const) {
      const query = typeof sent === 'string' ? sent : `?${sent[key]}`;
      const { url } = requestOf(operationOf([{ style, explode }]), { x: value });
      expect(url).toBe(`https://api.example.com/v1/orders${query}`);
    }
  });

  test.each([
    ["a/b?c:d@e!f$g'h(i)j*k;l,m", false, "x=a/b?c:d@e!f$g'h(i)j*k;l,m"],
    ['[]#&=+ é^', false, 'x=%5B%5D%23%26%3D%2B%20%C3%A9%5E'],
    ['x%2by 100%', false, 'x=x%2by%20100%25'],
    [['a,b', 'c/d'], false, 'x=a%2Cb,c/d'],
    [['a,b', 'c/d'], true, 'x=a,b&x=c/d'],
  ])('%j with reserved characters allowed, explode %s', (value, explode, query) => {
    const { url } = requestOf(operationOf([{ explode, allowReserved: true }]), { x: value });
    expect(url).toBe(`https://api.example.com/v1/orders?${query}`);
  });

  test('what is not given is left out', () => {
    expect(requestOf(operationOf([{}, { input: 'y', name: 'y' }]), { y: null }).url).toBe(
      'https://api.example.com/v1/orders',
    );
  });
});

describe('path parameters', () => {
  const path = '/orders/{x}/lines';
  const inPath = (explode = false) => operationOf([{ in: 'path', style: 'simple', explode }], { path });

  test.each([
    ['a/b?c#d', 'a%2Fb%3Fc%23d'],
    [[1, 'b'], '1,b'],
    ['$&', '%24%26'],
  ])('%j', (value, segment) => {
    expect(requestOf(inPath(), { x: value }).url).toBe(`https://api.example.com/v1/orders/${segment}/lines`);
  });

  test.each(['..', '.', '', null, undefined, []])('%j cannot stand there', (value) => {
    expect(() => requestOf(inPath(), { x: value })).toThrow(ToolFailure);
  });

  test('nor can one that makes .. of what the path has beside it', () => {
    const operation = operationOf([{ in: 'path', style: 'simple' }], { path: '/orders/%2e{x}/lines' });
    expect(requestOf(operation, { x: 'a' }).url).toBe('https://api.example.com/v1/orders/%2ea/lines');
    expect(() => requestOf(operation, { x: '.' })).toThrow(ToolFailure);
  });

  // RFC 6570, 3.2.5 and 3.2.7.
  test.each([
    ['label', false, [1, 'b'], '.1,b'],
    ['label', true, [1, 'b'], '.1.b'],
    ['label', true, { a: 1, b: 2 }, '.a=1.b=2'],
    ['matrix', false, [1, 'b/'], ';x=1,b%2F'],
    ['matrix', true, [1, 'b'], ';x=1;x=b'],
    ['matrix', true, { a: 1, b: 2 }, ';a=1;b=2'],
    ['matrix', false, 'a', ';x=a'],
    ['matrix', false, '', ';x'],
    ['matrix', true, ['a', '', null], ';x=a;x'],
    ['label', true, { a: null, b: 2 }, '.b=2'],
    ['simple', false, ['a', null, 'b'], 'a,b'],
    ['pipeDelimited', false, ['a', 'b|'], 'a%7Cb%7C'],
  ] as const)('in the style %s, explode %s, %j', (style, explode, value, segment) => {
    const operation = operationOf([{ in: 'path', style, explode }], { path });
    expect(requestOf(operation, { x: value }).url).toBe(`https://api.example.com/v1/orders/${segment}/lines`);
    expect(() => requestOf(operation, { x: [] })).toThrow(ToolFailure);
  });

  test('an object explodes', () => {
    expect(requestOf(inPath(true), { x: { a: 1, b: 2 } }).url).toBe('https://api.example.com/v1/orders/a=1,b=2/lines');
  });
});

describe('headers and body', () => {
  test('a header takes text without line breaks', () => {
    const operation = operationOf([{ in: 'header', style: 'simple', name: 'X-Trace' }]);
    expect(requestOf(operation, { x: ['a', 'é'] }).headers).toMatchObject({ 'X-Trace': 'a,Ã©' });
    expect(() => requestOf(operation, { x: 'a\r\nX-Evil: 1' })).toThrow(ToolFailure);
    expect(requestOf(operation, { x: [] }).headers).not.toHaveProperty('X-Trace');
    expect(requestOf(operation, { x: '' }).headers).toHaveProperty('X-Trace', '');
    const delimited = operationOf([{ in: 'header', style: 'pipeDelimited', explode: false, name: 'X-Trace' }]);
    expect(requestOf(delimited, { x: ['a', 'b'] }).headers).toMatchObject({ 'X-Trace': 'a|b' });
  });

  test('a body goes out as the JSON that it is, in the type of the document', () => {
    const operation = operationOf([], { method: 'POST', bodyType: 'application/vnd.api+json' });
    const request = requestOf(operation, { body: [null, 'x'] });
    expect(request.body).toBe('[null,"x"]');
    expect(request.headers['content-type']).toBe('application/vnd.api+json');
    expect(requestOf(operation, {})).not.toHaveProperty('body');
  });
});

test('what the document fixes is sent without an input, and an accept of its own in place of the usual one', () => {
  const operation = operationOf([
    { name: 'api-version', fixed: 2 },
    { name: 'Accept', in: 'header', style: 'simple', fixed: 'application/vnd.x+json' },
  ]);
  expect(requestOf(operation, {})).toMatchObject({
    url: 'https://api.example.com/v1/orders?api-version=2',
    headers: { accept: 'application/vnd.x+json' },
  });
  expect(Object.keys(requestOf(operation, {}).headers)).toEqual(['accept']);
});

describe('forms and text', () => {
  const form = 'application/x-www-form-urlencoded';
  const sent = (more: Partial<ImportedEndpoint>, body: unknown) => requestOf(operationOf([], more), { body });

  test.each([
    [{ a: 'b c&d', e: 1, f: false, g: null, h: '' }, 'a=b%20c%26d&e=1&f=false&h='],
    [{ list: [1, 'b', null], none: [] }, 'list=1&list=b'],
    [{ list: [{ a: 1 }] }, 'list=%7B%22a%22%3A1%7D'],
    [{ object: { a: [1] } }, 'object=%7B%22a%22%3A%5B1%5D%7D'],
    [{ 'a[b]=': 'é' }, 'a%5Bb%5D%3D=%C3%A9'],
    [{}, ''],
  ])('fields of which the document says nothing: %j', (body, text) => {
    expect(sent({ bodyType: form }, body)).toMatchObject({ body: text, headers: { 'content-type': form } });
  });

  test('fields in the style of the document', () => {
    const bodyFields = {
      deep: { style: 'deepObject', explode: true },
      csv: { style: 'form', explode: false },
      json: { style: 'json', explode: false },
      path: { style: 'form', explode: true, allowReserved: true },
    } as const;
    const body = { deep: { a: ['x'] }, csv: ['a,', 'b'], json: [1], path: 'a/b&c', other: [1, 2] };
    expect(sent({ bodyType: form, bodyFields }, body).body).toBe(
      'deep%5Ba%5D%5B%5D=x&csv=a%2C,b&json=%5B1%5D&path=a/b%26c&other=1&other=2',
    );
  });

  test.each([[null], ['a=b'], [[1]], [undefined]])('%j is no form', (body) => {
    expect(() => sent({ bodyType: form }, body)).toThrow(ToolFailure);
  });

  test('a multipart form is one that others can read, and no name leaves its quotes', async () => {
    const bodyFields = { deep: { style: 'deepObject', explode: true } } as const;
    const body = { a: 'b\r\n--x', 'n"\r\nX: 1': 'é', list: [1, 'b'], object: { c: 1 }, deep: { d: 2 } };
    const request = sent({ bodyType: 'multipart/form-data', bodyFields }, body);
    const read = await new Response(request.body ?? '', { headers: request.headers }).formData();
    expect([...read].map(([name, value]) => [name, typeof value === 'string' ? value : 'a file'])).toEqual([
      ['a', 'b\r\n--x'],
      ['n"\r\nX: 1', 'é'],
      ['list', '1'],
      ['list', 'b'],
      ['object', '{"c":1}'],
      ['deep[d]', '2'],
    ]);
  });

  test('a part of a multipart form has the media type of the document, or that of what it is', () => {
    const bodyFields = {
      patch: { style: 'json', explode: false, contentType: 'application/merge-patch+json' },
      rows: { style: 'form', explode: true, contentType: 'text/csv' },
    } as const;
    const body = { patch: { a: 1 }, rows: 'a,b', list: [{ b: 2 }, 'c'], object: {}, none: null };
    const { body: text = '' } = sent({ bodyType: 'multipart/form-data', bodyFields }, body);
    const parts = text.split(/--guildhall-[^\r\n]*/).map((part) => part.trim().replaceAll('\r\n', ' '));
    expect(parts.filter((part) => part !== '')).toEqual([
      'Content-Disposition: form-data; name="patch" Content-Type: application/merge-patch+json  {"a":1}',
      'Content-Disposition: form-data; name="rows" Content-Type: text/csv  a,b',
      'Content-Disposition: form-data; name="list" Content-Type: application/json  {"b":2}',
      'Content-Disposition: form-data; name="list"  c',
      'Content-Disposition: form-data; name="object" Content-Type: application/json  {}',
    ]);
  });

  test('text goes out as it is', () => {
    expect(sent({ bodyType: 'text/markdown' }, '**é**')).toMatchObject({
      body: '**é**',
      headers: { 'content-type': 'text/markdown; charset=utf-8' },
    });
  });
});
