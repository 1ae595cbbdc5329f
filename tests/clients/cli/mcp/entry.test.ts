import { startsSame, wantedEntry } from '../../../../clients/cli/mcp/entry.ts';

const server = { command: '/node', args: ['/mcp.js'], env: {} };
const elsewhere = { ...server, env: { GUILDHALL_CONFIG_DIR: '/logins' } };

test('a new entry says what it is where the client asks for it', () => {
  expect(wantedEntry(undefined, server, true)).toEqual({ type: 'stdio', command: '/node', args: ['/mcp.js'] });
  expect(wantedEntry(undefined, elsewhere, false)).toEqual({
    command: '/node',
    args: ['/mcp.js'],
    env: { GUILDHALL_CONFIG_DIR: '/logins' },
  });
});

test('what its user added stays: fields, and variables that are not ours', () => {
  const current = { command: '/old', timeout: 5, env: { HTTPS_PROXY: 'p', GUILDHALL_CONFIG_DIR: '/old' } };
  expect(wantedEntry(current, server, true)).toEqual({
    command: '/node',
    args: ['/mcp.js'],
    timeout: 5,
    env: { HTTPS_PROXY: 'p' },
  });
});

test('an entry of an address, or of no form that is known, is replaced whole', () => {
  const fresh = { type: 'stdio', command: '/node', args: ['/mcp.js'] };
  expect(wantedEntry({ type: 'http', url: 'https://x', headers: {} }, server, true)).toEqual(fresh);
  expect(wantedEntry({ url: 'https://x' }, server, true)).toEqual(fresh);
  expect(wantedEntry({}, server, true)).toEqual(fresh);
});

test.each<[boolean, Record<string, unknown>]>([
  [true, { command: '/node', args: ['/mcp.js'] }],
  [true, { type: 'stdio', command: '/node', args: ['/mcp.js'], env: {} }],
  [true, { command: '/node', args: ['/mcp.js'], timeout: 5, env: { A: '1' } }],
  [false, { command: '/node', args: [] }],
  [false, { command: '/node' }],
  [false, { command: '/other', args: ['/mcp.js'] }],
  [false, { command: '/node', args: ['/mcp.js'], env: { GUILDHALL_CONFIG_DIR: '/x' } }],
  [false, { type: 'http', command: '/node', args: ['/mcp.js'] }],
])('starts the same server: %s for %j', (expected, current) => {
  expect(startsSame(current, server, true)).toBe(expected);
});
