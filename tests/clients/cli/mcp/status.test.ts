import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { commandLine } from './commandLine.ts';

let app: TestApp;
let home: string;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'guildhall-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const guildhall = (words: string[], env: Record<string, string> = {}) =>
  commandLine(words, { homeFolder: home, cwd: home, env });

async function logIn(): Promise<void> {
  writeFileSync(join(home, 'key'), app.workspace.apiKey);
  const { code, stderr } = await guildhall([
    'auth',
    'login',
    '--api-key-file',
    join(home, 'key'),
    '--base-url',
    app.origin,
  ]);
  if (code !== 0) throw new Error(stderr);
  rmSync(join(home, 'key'));
}

/** What each check says: what it is about, and its state. */
function states(stdout: string): string[] {
  return JSON.parse(stdout).map(({ about, state }: { about: string; state: string }) => `${about}: ${state}`);
}

test('all is well: login, service, and for each client its entry, a server that starts, and the guide', async () => {
  await logIn();
  await guildhall(['mcp', 'install', 'claude-code', 'codex']);
  const { code, stdout, stderr } = await guildhall(['mcp', 'status']);
  expect([code, stderr]).toEqual([0, '']);
  expect(states(stdout)).toEqual([
    'login: ok',
    'service: ok',
    'claude-code entry: ok',
    'claude-code server: ok',
    'claude-code guide: ok',
    'codex entry: ok',
    'codex server: ok',
    'codex guide: ok',
  ]);
  expect(stdout).toContain(`${app.origin} takes the key: workspace ${app.workspace.workspaceId}.`);
  expect(stdout).toContain('It starts, with 135 tools.');
});

test('a broken file of a client, an old copy of the server, and a key in an entry are named, each with what to do', async () => {
  await logIn();
  await guildhall(['mcp', 'install', 'claude-code', 'codex', 'vscode']);
  await guildhall(['mcp', 'install', 'cursor', '--read-only', '--tags', 'agents,messages']);
  const change = (path: string, from: string | RegExp, to: string) => {
    const text = readFileSync(join(home, path), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(home, path), text.replace(from, to));
  };
  writeFileSync(join(home, '.claude.json'), '{"mcpServers"');
  change('.cursor/mcp.json', /[^"]*clients\/mcp\/main\.ts/, '/gone/guildhall-mcp.js');
  change('.codex/config.toml', /$/, 'env = { GUILDHALL_API_KEY = "gsk_x" }\n');
  change('.config/Code/User/mcp.json', /"command": "[^"]*"/, '"command": "weather", "cwd": "/"');
  change('.config/Code/User/mcp.json', /[^"]*clients\/mcp\/main\.ts/, 'weather.js');
  const { code, stdout, stderr } = await guildhall(['mcp', 'status']);
  expect(code).toBe(5);
  expect(stderr).toContain('4 things are wrong. The first: ');
  const checks = JSON.parse(stdout) as { about: string; state: string; message: string; fix: string }[];
  const wrong = checks.filter(({ state }) => state === 'wrong').map(({ about, message, fix }) => [about, message, fix]);
  expect(wrong).toEqual([
    ['claude-code entry', expect.stringContaining('.claude.json is not valid JSON (line 1'), expect.any(String)],
    [
      'cursor server',
      '/gone/guildhall-mcp.js is not there any more.',
      'Run guildhall mcp install cursor --tags agents,messages --read-only --update.',
    ],
    [
      'vscode entry',
      expect.stringContaining('has another server under this name'),
      expect.stringContaining('--update to replace it'),
    ],
    [
      'codex entry',
      expect.stringContaining('holds an API key, in GUILDHALL_API_KEY.'),
      expect.stringContaining('guildhall auth login'),
    ],
  ]);
  expect(checks.find(({ about }) => about === 'vscode server')).toMatchObject({ state: 'note' });
});

test('without a login it is exit code 4, and a key of this shell alone is not enough for the clients', async () => {
  await guildhall(['mcp', 'install', 'codex']);
  const none = await guildhall(['mcp', 'status', '--json']);
  expect([none.code, JSON.parse(none.stdout).error.code]).toEqual([4, 'mcp_status']);
  const shell = await guildhall(['mcp', 'status'], {
    GUILDHALL_API_KEY: app.workspace.apiKey,
    GUILDHALL_BASE_URL: app.origin,
  });
  expect([shell.code, states(shell.stdout)]).toEqual([
    4,
    ['login: note', 'service: ok', 'codex entry: ok', 'codex server: wrong', 'codex guide: ok'],
  ]);
});

test('a key that was revoked is exit code 4, a service that does not answer 1', async () => {
  await logIn();
  await guildhall(['mcp', 'install', 'codex']);
  const config = join(home, '.config/guildhall/config.json');
  const saved = readFileSync(config, 'utf8');
  writeFileSync(config, saved.replaceAll(app.origin, 'http://127.0.0.1:9'));
  const dead = await guildhall(['mcp', 'status', '--timeout', '5']);
  expect([dead.code, states(dead.stdout).slice(0, 2)]).toEqual([1, ['login: ok', 'service: wrong']]);
  writeFileSync(
    config,
    saved.replace(
      app.workspace.apiKey,
      `${app.workspace.apiKey.slice(0, -1)}${app.workspace.apiKey.endsWith('0') ? '1' : '0'}`,
    ),
  );
  const refused = await guildhall(['mcp', 'status']);
  expect([refused.code, states(refused.stdout).slice(0, 2)]).toEqual([4, ['login: ok', 'service: wrong']]);
});

test('a client that is there without the server is a note, one that was named is wrong, and no client at all is wrong', async () => {
  await logIn();
  await guildhall(['mcp', 'install', 'codex', '--no-skill']);
  mkdirSync(join(home, '.cursor'));
  const all = await guildhall(['mcp', 'status']);
  expect([all.code, states(all.stdout).slice(2)]).toEqual([
    0,
    ['cursor entry: note', 'codex entry: ok', 'codex server: ok', 'codex guide: note'],
  ]);
  expect((await guildhall(['mcp', 'status', 'cursor'])).code).toBe(1);
  await guildhall(['mcp', 'uninstall', 'codex']);
  const nobody = await guildhall(['mcp', 'status']);
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('No client has the server guildhall.')]);
});

test('nothing that a project names is started but the server beside this command', async () => {
  await logIn();
  const marker = join(home, 'started');
  const evil = join(home, 'guildhall-mcp');
  writeFileSync(evil, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(evil, 0o755);
  writeFileSync(join(home, '.mcp.json'), JSON.stringify({ mcpServers: { guildhall: { command: evil, args: [] } } }));
  const { stdout } = await guildhall(['mcp', 'status', 'claude-code', '--project']);
  expect(states(stdout)).toContain('claude-code server: note');
  expect(() => readFileSync(marker)).toThrow('ENOENT');
  await guildhall(['mcp', 'install', 'claude-code', '--project', '--update']);
  const ours = JSON.parse(readFileSync(join(home, '.mcp.json'), 'utf8'));
  expect(states((await guildhall(['mcp', 'status', 'claude-code', '--project'])).stdout)).toContain(
    'claude-code server: ok',
  );
  ours.mcpServers.guildhall.env = { NODE_OPTIONS: `--require ${evil}` };
  writeFileSync(join(home, '.mcp.json'), JSON.stringify(ours));
  expect(states((await guildhall(['mcp', 'status', 'claude-code', '--project'])).stdout)).toContain(
    'claude-code server: note',
  );
});
