import { localOrigin, readConfig } from '../../server/config.ts';

const publicUrl = (text: string) => readConfig({ GUILDHALL_PUBLIC_URL: text }).publicUrl;

test('GUILDHALL_PUBLIC_URL is an address without a slash at its end; absent, it is where the service listens', () => {
  expect(publicUrl('https://agents.example.com')).toBe('https://agents.example.com');
  expect(publicUrl(' https://example.com:8443/agents// ')).toBe('https://example.com:8443/agents');
  expect([publicUrl(''), readConfig({}).publicUrl]).toEqual([undefined, undefined]);
});

test.each([
  'agents.example.com',
  'ftp://example.com',
  'https://user:secret@example.com',
  'https://example.com/?a',
  'https://example.com/#a',
])('%s stops the start, and is not repeated', (text) => {
  expect(() => publicUrl(text)).toThrow(
    /^GUILDHALL_PUBLIC_URL must be an address such as https:\/\/agents\.example\.com\.$/,
  );
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['::', 'http://[::1]:3000'],
  ['::1', 'http://[::1]:3000'],
  ['agents.internal', 'http://agents.internal:3000'],
])('a service that listens on %s is called at %s', (host, origin) => {
  expect(localOrigin(host, 3000)).toBe(origin);
});
