import { readResponseBody } from '../../../../runtime/tools/request/response.ts';
import { redactor } from '../../../../runtime/tools/secrets/redact.ts';

const read = (body: string | Buffer, contentType?: string) =>
  readResponseBody({
    body: Buffer.from(body as string),
    headers: contentType === undefined ? {} : { 'content-type': contentType },
  });

describe('the result of a tool', () => {
  test.each([
    ['{"a":1}', 'application/json', { a: 1 }],
    ['[1]', 'application/json', { data: [1] }],
    ['"x"', 'application/json; charset=utf-8', { data: 'x' }],
    ['null', 'application/json', { data: null }],
    ['7', 'application/vnd.api+json', { data: 7 }],
    ['{"a":1}', 'text/plain', { a: 1 }],
    ['{"a":1}', undefined, { a: 1 }],
    ['{"a":', 'application/json', { text: '{"a":' }],
    ['{not json}', 'text/plain', { text: '{not json}' }],
    ['7', 'text/plain', { text: '7' }],
    ['<p>é</p>', 'text/html', { text: '<p>é</p>' }],
    ['', 'application/json', null],
  ])('%j as %s', (body, contentType, expected) => {
    expect(read(body, contentType)).toEqual(expected);
  });

  test.each([
    ['a declared charset', Buffer.from([0xe9]), 'text/plain; charset=ISO-8859-1', 'é'],
    ['a quoted charset', Buffer.from([0xe9]), 'text/plain; charset="windows-1252"', 'é'],
    ['a charset that nobody knows', Buffer.from('é'), 'text/plain; charset=klingon', 'é'],
    ['Latin-1 that says it is text', Buffer.from([0x63, 0xe9]), 'text/plain', 'cé'],
    ['a byte order mark', Buffer.from('\uFEFFé'), 'text/plain', 'é'],
    ['UTF-16 with its mark', Buffer.from('\uFEFFé', 'utf16le'), 'text/plain', 'é'],
    ['Japanese', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/html; charset=Shift_JIS', '日本'],
  ])('%s', (_what, body, contentType, text) => {
    expect(read(body, contentType)).toEqual({ text });
  });

  test('binary data is described by its size and type', () => {
    expect(read(Buffer.from([0x89, 0x50, 0xff, 0x00]), 'image/png')).toEqual({ text: '(4 bytes of image/png)' });
    expect(read(Buffer.from([0xff, 0xd8]), undefined)).toEqual({ text: '(2 bytes of unknown type)' });
  });

  test('JSON that nests too deep is returned as text', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);
    expect(read(deep, 'application/json')).toEqual({ text: deep });
  });
});

describe('secrets in a result', () => {
  const secret = 'p@ss/word +1"';

  test('are hidden plain, encoded, in names and in numbers', () => {
    const { data } = redactor([secret, '48151623']);
    const echo = {
      plain: `x${secret}x`,
      url: `?a=${encodeURIComponent(secret)}`,
      base64: Buffer.from(secret).toString('base64'),
      nested: [{ json: JSON.stringify({ a: secret }) }],
      [secret]: 48151623,
      other: 7,
      none: null,
    };
    expect(data(echo)).toEqual({
      plain: 'x********x',
      url: '?a=********',
      base64: '********',
      nested: [{ json: '{"a":"********"}' }],
      '********': '********',
      other: 7,
      none: null,
    });
  });

  test('the parts of a secret address are hidden in errors, and its host stays in data', () => {
    const { data, message } = redactor(['https://hooks.internal/services/T00/B11?key=abcdef123456']);
    expect(message('hooks.internal refused the connection.')).toBe('******** refused the connection.');
    expect(data({ a: '/services/T00/B11', b: 'hooks.internal' })).toEqual({ a: '********', b: 'hooks.internal' });
    expect(redactor(['postgres://me:s3cr%2Ft@db/shop']).data({ a: 's3cr/t s3cr%2Ft shop' })).toEqual({
      a: '******** ******** shop',
    });
  });

  test.each([
    ['Basic', 'Basic bWlhOkNvcnJlY3QtSG9yc2UtOQ==', 'mia:Correct-Horse-9'],
    ['in lower case', 'basic  bWlhOkNvcnJlY3QtSG9yc2UtOQ==', 'mia:Correct-Horse-9'],
    ['that the tool writes the scheme before', 'bWlhOkNvcnJlY3QtSG9yc2UtOQ==', 'mia:Correct-Horse-9'],
    ['without padding', 'bWlhOkNvcnJlY3QtSG9yc2UtOQ', 'mia:Correct-Horse-9'],
    ['in Latin-1', 'bWlhOktlbm53b3J0LWf8bHRpZw==', 'mia:Kennwort-gültig'],
    ['with colons in the password', 'Basic bWlhOmE6Yjpjb3JyZWN0', 'mia:a:b:correct'],
  ])(
    'the parts of a credential %s are hidden: the login, the password alone, and the token',
    (_what, secret, login) => {
      const password = login.slice(login.indexOf(':') + 1);
      const token = secret.replace(/^basic +/i, '');
      for (const text of [secret, token, login, password, encodeURIComponent(password), `login "${login}" is wrong`]) {
        for (const shown of [redactor([secret]).data({ text }).text, redactor([secret]).message(text)]) {
          for (const part of [token, password, encodeURIComponent(password)]) expect(shown).not.toContain(part);
          expect(shown).toContain('********');
        }
      }
      expect(redactor([secret]).data('mia is here')).toBe('mia is here');
    },
  );

  test('the token of a credential is hidden without its scheme', () => {
    expect(redactor(['Bearer tok-4711-x']).data('got tok-4711-x of Bearer')).toBe('got ******** of Bearer');
    // No scheme: the words of a passphrase are words of other texts, too.
    expect(redactor(['correct horse battery']).data('a horse battery')).toBe('a horse battery');
    // Base64 of bytes that are no login.
    expect(redactor(['q83vEjRWeJA=']).data('a:b stays')).toBe('a:b stays');
  });

  test('the login of a database is hidden in Base64, too', () => {
    const login = Buffer.from('mia:s3cr/t').toString('base64');
    expect(redactor(['postgres://mia:s3cr%2Ft@db/shop']).data(`Basic ${login}`)).toBe('Basic ********');
  });

  test('a secret that contains another is hidden as a whole', () => {
    expect(redactor(['token', 'token-extended']).message('a token-extended b')).toBe('a ******** b');
  });

  test('characters that cannot be stored are replaced', () => {
    const { body } = { body: Buffer.from('{"a\\u0000":"\\ud800"}') };
    expect(redactor([]).data(readResponseBody({ body, headers: {} }))).toEqual({ 'a\uFFFD': '\uFFFD' });
    expect(redactor([]).message('\0 and \ud800')).toBe('\uFFFD and \uFFFD');
  });

  test('keys such as __proto__ stay ordinary keys', () => {
    const value = JSON.parse('{"__proto__": {"a": "secret1"}}');
    expect(JSON.stringify(redactor(['secret1']).data(value))).toBe('{"__proto__":{"a":"********"}}');
  });
});
