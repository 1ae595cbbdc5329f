import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openerOf } from '../../../clients/cli/open/opener.ts';
import { CommandSession, guildhallCommand } from '../../support/clients/commandLine.ts';
import { until } from '../../support/poll.ts';

const ADDRESS = 'http://127.0.0.1:7/docs#tag/agents/GET/agents/{agentPublicId}';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-open-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each<[string, NodeJS.Platform, Record<string, string>, string | undefined]>([
  ['macOS', 'darwin', {}, 'open'],
  ['Windows', 'win32', {}, 'rundll32'],
  ['Linux with a screen', 'linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['Linux with Wayland', 'linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['Linux on Windows', 'linux', { WSL_DISTRO_NAME: 'Debian' }, 'wslview'],
  ['a machine without a screen', 'linux', {}, undefined],
])('the opener of %s', (_, platform, env, command) => {
  const opener = openerOf(platform, env, ADDRESS);
  expect(opener?.command).toBe(command);
  if (opener) expect(opener.args.at(-1)).toBe(ADDRESS);
});

const address = async (argv: string[], env: Record<string, string> = {}) =>
  (await guildhallCommand(['open', ...argv], { env: { GUILDHALL_CONFIG_DIR: folder, ...env } })).stdout.trim();

test('in a pipe the address is printed; it needs no login', async () => {
  const base = { GUILDHALL_BASE_URL: 'https://api.example.com/public/api/v1/' };
  expect(await address([], base)).toBe('https://api.example.com/docs');
  expect(await address(['agents'], base)).toBe('https://api.example.com/docs#tag/agents');
  expect(await address(['agents', 'get'], { GUILDHALL_BASE_URL: 'http://127.0.0.1:7' })).toBe(ADDRESS);
  expect(await address(['getAgent'], { GUILDHALL_BASE_URL: 'http://127.0.0.1:7' })).toBe(ADDRESS);
  expect(await address([])).toBe('http://127.0.0.1:3000/docs');
});

describe('on a terminal', () => {
  const open = (env: Record<string, string>, ...more: string[]) =>
    new CommandSession(['open', 'getAgent', ...more], {
      columns: 80,
      platform: 'linux',
      env: { GUILDHALL_CONFIG_DIR: folder, GUILDHALL_BASE_URL: 'http://127.0.0.1:7', DISPLAY: ':0', ...env },
    }).ended;

  test('the opener of the system gets the address as one argument', async () => {
    const note = join(folder, 'opened');
    await writeFile(
      join(folder, 'xdg-open'),
      `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > "${note}.part" && mv "${note}.part" "${note}"\n`,
    );
    await chmod(join(folder, 'xdg-open'), 0o755);
    const ran = await open({ PATH: [folder, process.env.PATH ?? ''].join(delimiter) });
    expect(ran).toEqual({ exitCode: 0, stdout: '', stderr: `Opened ${ADDRESS}\n` });
    expect(await until(() => readFile(note, 'utf8').catch(() => undefined))).toBe(`1\n${ADDRESS}\n`);
  });

  test('without an opener, and with --print, the address is printed', async () => {
    expect(await open({ PATH: join(folder, 'nothing') })).toMatchObject({ exitCode: 0, stdout: `${ADDRESS}\n` });
    expect(await open({ PATH: folder }, '--print')).toMatchObject({ exitCode: 0, stdout: `${ADDRESS}\n`, stderr: '' });
  });
});
