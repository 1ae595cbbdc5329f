import { ToolFailure } from '../../../../runtime/tools/failure.ts';
import { addQuery, fillAddress } from '../../../../runtime/tools/request/address.ts';
import { carriesSecret, fillBody } from '../../../../runtime/tools/request/body.ts';
import { fillHeaders } from '../../../../runtime/tools/request/headers.ts';

const values = (input: Record<string, unknown> = {}, secret: Record<string, string> = {}) => ({ input, secret });
const BASE = 'https://api.example.com';

describe('a URL', () => {
  test.each([
    ['/a/{{input.x}}', { x: 'A-1042' }, '/a/A-1042'],
    ['/a/{{input.x}}', { x: 'b/../c?d=e#f&g' }, '/a/b%2F..%2Fc%3Fd%3De%23f%26g'],
    ['/a/{{input.x}}', { x: '%2e%2e' }, '/a/%252e%252e'],
    ['/a/{{input.x}}/b', { x: 7 }, '/a/7/b'],
    ['/a/{{ input.x }}', { x: 'é😀' }, '/a/%C3%A9%F0%9F%98%80'],
    ['/a?b={{input.x}}&c=1', { x: "&c=2 '()*" }, '/a?b=%26c%3D2%20%27%28%29%2A&c=1'],
    ['/a?b={{input.x}}', {}, '/a?b='],
    ['/a?b={{input.x}}', { x: { c: [1] } }, '/a?b=%7B%22c%22%3A%5B1%5D%7D'],
    ['/a?b={{input.x}}', { x: '\ud800' }, '/a?b=%EF%BF%BD'],
    ['/a#{{input.x}}', { x: 'y' }, '/a'],
  ])('%s with %j', (path, input, expected) => {
    expect(fillAddress(BASE + path, values(input))).toBe(BASE + expected);
  });

  test.each([
    ['..', '/a/{{input.x}}/b'],
    ['.', '/a/{{input.x}}'],
    ['', '/a/{{input.x}}'],
    [undefined, '/a/{{input.x}}'],
    [null, '/a/{{input.x}}'],
    ['.', '/a/.{{input.x}}/b'],
    ['.', '/a/{{input.x}}{{input.x}}'],
  ])('the input %j is refused in the path %s: it would change the path', (x, path) => {
    expect(() => fillAddress(BASE + path, values({ x }))).toThrow(ToolFailure);
  });

  test('an input can be a host or a port, and nothing more', () => {
    const url = 'http://{{input.h}}:{{input.p}}/x';
    expect(fillAddress(url, values({ h: 'münchen.example', p: 8080 }))).toBe('http://münchen.example:8080/x');
    for (const h of ['a/b', 'a?b', 'a#b', 'me@a', 'a\\b', 'a b', '', 'a／b', null]) {
      expect(() => fillAddress(url, values({ h, p: 80 }))).toThrow(ToolFailure);
    }
    expect(() => fillAddress(url, values({ h: 'a', p: '99999' }))).toThrow(ToolFailure);
  });

  test('a whole address must be an http address', () => {
    expect(fillAddress('{{input.u}}', values({ u: 'http://a.example/b?c' }))).toBe('http://a.example/b?c');
    expect(fillAddress('{{secret.u}}/x', values({}, { u: 'https://a.example/b/' }))).toBe('https://a.example/b/x');
    for (const u of ['file:///etc/passwd', 'javascript:1', '//a.example', 'a.example', '']) {
      expect(() => fillAddress('{{input.u}}', values({ u }))).toThrow(ToolFailure);
    }
  });

  test("the query is added to the URL's; parameters without an input are left out", () => {
    const query = {
      a: '{{input.a}}',
      'b c': 'x-{{input.b}}',
      list: '{{input.list}}',
      gone: '{{input.gone}}',
      none: '{{input.none}}',
    };
    const input = { a: true, b: '&', list: [1, 'b,c'], none: null };
    expect(addQuery(`${BASE}/?z=1`, query, values(input))).toBe(`${BASE}/?z=1&a=true&b%20c=x-%26&list=1&list=b%2Cc`);
    expect(addQuery(BASE, { a: '{{input.no}}' }, values())).toBe(BASE);
  });

  test('a missing secret ends the run, also one with the name of a built-in', () => {
    expect(() => fillAddress(`${BASE}/{{secret.toString}}`, values())).toThrow('The tool has no secret toString.');
  });
});

describe('headers', () => {
  test('are filled in, trimmed and sent as UTF-8', () => {
    const headers = { a: 'Bearer {{secret.t}}', b: '{{input.n}}', c: ' é ', d: '{{input.gone}}' };
    expect(fillHeaders(headers, values({ n: 5 }, { t: 'abc' }))).toEqual({ a: 'Bearer abc', b: '5', c: 'Ã©' });
  });

  test.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'a\u007fb'])('refuses the value %j', (x) => {
    expect(() => fillHeaders({ h: 'v {{input.x}}' }, values({ x }))).toThrow(ToolFailure);
    expect(() => fillHeaders({ h: '{{secret.x}}' }, values({}, { x }))).toThrow(ToolFailure);
  });
});

describe('a JSON body', () => {
  const bodyOf = (body: unknown, input: Record<string, unknown>) =>
    JSON.parse(fillBody(body, {}, values(input, { s: 'abc' })).body);

  test('a placeholder that is a whole value keeps its type; inside text it is text', () => {
    const body = {
      n: '{{input.n}}',
      o: '{{input.o}}',
      t: 'no. {{input.n}} {{input.o}}',
      s: ['{{secret.s}}'],
      plain: 1,
      f: false,
    };
    expect(bodyOf(body, { n: 5, o: { a: [null] } })).toEqual({
      n: 5,
      o: { a: [null] },
      t: 'no. 5 {"a":[null]}',
      s: ['abc'],
      plain: 1,
      f: false,
    });
  });

  test('a missing input is left out of objects and is null in lists', () => {
    expect(bodyOf({ a: '{{input.x}}', b: ['{{input.x}}', 1], c: '{{input.y}}' }, { y: null })).toEqual({
      b: [null, 1],
      c: null,
    });
  });

  test('a placeholder in a value is not filled in', () => {
    expect(bodyOf({ a: '{{input.x}}', b: 'x{{input.x}}' }, { x: '{{secret.s}}' })).toEqual({
      a: '{{secret.s}}',
      b: 'x{{secret.s}}',
    });
  });

  test('is sent as application/json unless the headers have a type', () => {
    expect(fillBody({}, {}, values()).headers).toEqual({ 'content-type': 'application/json' });
    const headers = { 'Content-Type': 'application/vnd.api+json' };
    expect(fillBody({}, headers, values()).headers).toEqual(headers);
  });
});

describe('a text body', () => {
  const filled = (body: string, type: string | undefined, x: unknown) =>
    fillBody(body, type === undefined ? {} : { 'CONTENT-TYPE': type }, values({ x })).body;

  test('is sent as plain text unless the headers have a type', () => {
    expect(fillBody('a {{input.x}}', {}, values({ x: '"' }))).toEqual({
      body: 'a "',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
  });

  test.each([
    ['application/json', '{"a": "{{input.x}}"}', '", "admin": "1', '{"a": "\\", \\"admin\\": \\"1"}'],
    ['application/json; charset=utf-8', '{"q\\"": {{input.x}}}', { b: 1 }, '{"q\\"": {"b":1}}'],
    ['application/problem+json', '[{{input.x}}]', undefined, '[null]'],
    ['application/x-www-form-urlencoded', 'a={{input.x}}&b=1', '&b=2 ', 'a=%26b%3D2%20&b=1'],
    ['application/xml', '<a b="{{input.x}}"/>', '"><c>&\'', '<a b="&quot;&gt;&lt;c&gt;&amp;&apos;"/>'],
    ['text/csv', 'a,{{input.x}}', 'b,c', 'a,b,c'],
  ])('in %s a value cannot break out: %s', (type, body, x, expected) => {
    expect(filled(body, type, x)).toBe(expected);
  });
});

test('carriesSecret finds placeholders for secrets', () => {
  expect(carriesSecret({ a: ['x {{secret.t}}'] })).toBe(true);
  expect(carriesSecret('{{input.t}}')).toBe(false);
  expect(carriesSecret(undefined)).toBe(false);
});
