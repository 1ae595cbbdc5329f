import { domainNameOf } from '../../../core/domainName.ts';
import { hubNameOfHost, hubUrlOf } from '../../../domain/hubs/hubUrl.ts';

const publicUrl = 'https://agents.example.com/base';

test('a hub has a subdomain of the hub domain, or a path of the service', () => {
  expect(hubUrlOf({ publicUrl, hubDomain: 'hubs.example.com' }, 'acme')).toBe('https://acme.hubs.example.com');
  expect(hubUrlOf({ publicUrl }, 'acme')).toBe('https://agents.example.com/base/hub/acme');
  expect(hubUrlOf({ publicUrl, hubDomain: 'hubs.example.com' }, null)).toBeNull();
});

test.each([
  ['acme.hubs.example.com', 'acme'],
  ['ACME.hubs.example.com:443', 'acme'],
  ['acme.hubs.example.com.', 'acme'],
  ['hubs.example.com', undefined],
  ['.hubs.example.com', undefined],
  ['a.b.hubs.example.com', undefined],
  ['evilhubs.example.com', 'evilhubs.example.com'],
  ['agents.acme.example', 'agents.acme.example'],
  ['acme', undefined],
  ['localhost:3000', undefined],
  ['', undefined],
])('the host %s has the name %s', (host, name) => {
  expect(hubNameOfHost({ hubDomain: 'hubs.example.com' }, host)).toBe(name);
});

test('without a hub domain no host is a subdomain', () => {
  expect(hubNameOfHost({}, 'acme.hubs.example.com')).toBe('acme.hubs.example.com');
});

test.each([
  ['Agents.Example.com', 'agents.example.com'],
  ['agents.example.com.', 'agents.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['a.b', 'a.b'],
  [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  [`${'a'.repeat(64)}.example`, undefined],
  [`${'a.'.repeat(130)}example`, undefined],
  ['localhost', undefined],
  ['10.0.0.1', undefined],
  ['10.0.0.256', undefined],
  ['[::1]', undefined],
  ['::1', undefined],
  ['*.example.com', undefined],
  ['-a.example.com', undefined],
  ['a..example.com', undefined],
  ['a_b.example.com', undefined],
  ['https://example.com', undefined],
  ['example.com:443', undefined],
  ['example.com/x', undefined],
  ['example.com\\x', undefined],
  ['user@example.com', undefined],
  ['', undefined],
])('domainNameOf(%s) is %s', (text, domain) => {
  expect(domainNameOf(text)).toBe(domain);
});
