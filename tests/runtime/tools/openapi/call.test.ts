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
    ['form', true, 'a b&c', 'x=a%20b%26c'],
    ['form', true, false, 'x=false'],
  ] as const)('%s, explode %s, %j', (style, explode, value, query) => {
    expect(requestOf(operationOf([{ style, explode }]), { x: value }).url).toBe(
      `https://api.example.com/v1/orders?${query}`,
    );
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

  test('an object explodes', () => {
    expect(requestOf(inPath(true), { x: { a: 1, b: 2 } }).url).toBe('https://api.example.com/v1/orders/a=1,b=2/lines');
  });
});

describe('headers and body', () => {
  test('a header takes text without line breaks', () => {
    const operation = operationOf([{ in: 'header', style: 'simple', name: 'X-Trace' }]);
    expect(requestOf(operation, { x: ['a', 'é'] }).headers).toMatchObject({ 'X-Trace': 'a,Ã©' });
    expect(() => requestOf(operation, { x: 'a\r\nX-Evil: 1' })).toThrow(ToolFailure);
  });

  test('a body goes out as the JSON that it is, in the type of the document', () => {
    const operation = operationOf([], { method: 'POST', bodyType: 'application/vnd.api+json' });
    const request = requestOf(operation, { body: [null, 'x'] });
    expect(request.body).toBe('[null,"x"]');
    expect(request.headers['content-type']).toBe('application/vnd.api+json');
    expect(requestOf(operation, {})).not.toHaveProperty('body');
  });
});
