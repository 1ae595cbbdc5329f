import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintApiKey } from '../../../core/apiKey.ts';
import { CommandSession, guildhallCommand, type Ran } from '../../support/clients/commandLine.ts';
import { json, type OddServer, startOddServer } from '../../support/clients/oddServer.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
let odd: OddServer;
let home: string;
beforeAll(async () => {
  [app, odd] = await Promise.all([startTestApp(), startOddServer()]);
});
afterAll(async () => await Promise.all([app.close(), odd.close()]));
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'guildhall-home-'));
});
afterEach(async () => await rm(home, { recursive: true }));

const folder = () => join(home, '.config', 'guildhall');
const file = () => join(folder(), 'config.json');
const cli = (argv: string[], env: Record<string, string> = {}, stdin = ''): Promise<Ran> =>
  guildhallCommand(argv, { homeFolder: home, env, stdin, cwd: home });
const saved = async () => JSON.parse(await readFile(file(), 'utf8')).profiles;
const keyFile = async (text: string | Buffer = app.workspace.apiKey, name = 'key.txt') => {
  await writeFile(join(home, name), text);
  return join(home, name);
};
/** Each has a key file of its own: one that is written anew is empty for a moment, and another login may read it then. */
const logIn = async (...more: string[]) => {
  const path = await keyFile(app.workspace.apiKey, `key-${randomUUID()}.txt`);
  return await cli(['auth', 'login', '--base-url', app.origin, '--api-key-file', path, ...more]);
};
/** The error of a call with `--json`. */
const errorOf = ({ stdout }: Ran) => JSON.parse(stdout).error;

describe('auth login', () => {
  test('saves a key that the service takes, for the user alone', async () => {
    const { exitCode, stdout, stderr } = await logIn();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('Logged in') });
    expect(JSON.parse(stdout)).toEqual({
      workspacePublicId: app.workspace.workspaceId,
      apiKeyPublicId: expect.any(String),
      baseUrl: app.origin,
      profile: 'default',
    });
    expect(stdout + stderr).not.toContain(app.workspace.apiKey);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect(await readdir(folder())).toEqual(['config.json']);
    expect((await saved()).default).toMatchObject({ apiKey: app.workspace.apiKey, baseUrl: app.origin });
    expect((await cli(['agents', 'list'])).exitCode).toBe(0);
  });

  test('the key is hidden while it is pasted on a terminal, and what follows it in the paste is dropped', async () => {
    const session = new CommandSession(['auth', 'login', '--base-url', app.origin], { homeFolder: home, columns: 100 });
    let isRaw = false;
    let shownBefore: string | undefined;
    Object.defineProperty(session, 'isRaw', {
      get: () => isRaw,
      set: (on: boolean) => {
        if (on) shownBefore = session.screen;
        isRaw = on;
      },
    });
    await session.shows('API key');
    // The echo is off before the question stands there: who answers at once shows nothing.
    expect({ isRaw, shownBefore }).toEqual({ isRaw: true, shownBefore: '' });
    session.type(`\u001b[200~x\u007f${app.workspace.apiKey}\u001b[201~\r\nrm -rf /\r`);
    const { exitCode } = await session.ended;
    expect({ exitCode, isRaw }).toEqual({ exitCode: 0, isRaw: false });
    expect(session.bytes).not.toContain(app.workspace.apiKey.slice(8));
    expect((await saved()).default.apiKey).toBe(app.workspace.apiKey);
  });

  test('Ctrl-C at the question saves nothing and gives the terminal back', async () => {
    const session = new CommandSession(['auth', 'login', '--base-url', app.origin], { homeFolder: home, columns: 100 });
    await session.shows('API key');
    session.interrupt();
    expect(await session.ended).toMatchObject({ exitCode: 130 });
    expect(session.isRaw).toBe(false);
    await expect(stat(file())).rejects.toThrow('ENOENT');
  });

  test('without a terminal nothing is asked: the flag to pass is named', async () => {
    const ran = await cli(['auth', 'login', '--json']);
    expect({ exitCode: ran.exitCode, error: errorOf(ran) }).toEqual({
      exitCode: 2,
      error: expect.objectContaining({ code: 'no_tty', hint: 'Pass --api-key-file FILE.' }),
    });
  });

  test.each([
    ['a lost character', (key: string) => key.slice(0, -1), 'has 44 characters, and this one has 43'],
    [
      'a changed character',
      (key: string) => `${key.slice(0, 9)}${key[9] === 'a' ? 'b' : 'a'}${key.slice(10)}`,
      'do not match',
    ],
    ['another sign', (key: string) => `${key.slice(0, 9)}-${key.slice(10)}`, 'letters and digits only'],
    ['a key of something else', () => `sk-${'a'.repeat(41)}`, 'begin with gsk_'],
    ['two keys', (key: string) => `${key} ${key}`, 'more than a key'],
    ['nothing', () => '\r\n', 'has no API key'],
  ])('a key with %s is refused before anybody is asked', async (_, change, sentence) => {
    odd.script(json(200, { status: 'ok', workspacePublicId: randomUUID(), apiKeyPublicId: randomUUID() }));
    const path = await keyFile(change(app.workspace.apiKey));
    const ran = await cli(['auth', 'login', '--base-url', odd.origin, '--api-key-file', path, '--json']);
    expect(ran.exitCode).toBe(4);
    expect(errorOf(ran)).toMatchObject({ code: 'bad_key', message: expect.stringContaining(sentence) });
    expect(odd.received).toEqual([]);
    await expect(stat(file())).rejects.toThrow('ENOENT');
  });

  test.each([
    ['line ends of Windows', (key: string) => Buffer.from(`\uFEFF${key}\r\n`)],
    ['UTF-16, as PowerShell writes it', (key: string) => Buffer.from(`\uFEFF${key}\r\n`, 'utf16le')],
  ])('a key file with %s is read', async (_, written) => {
    const path = await keyFile(written(app.workspace.apiKey));
    expect(await cli(['auth', 'login', '--base-url', app.origin, '--api-key-file', path])).toMatchObject({
      exitCode: 0,
    });
    const input = await cli(
      ['auth', 'login', '--profile', 'piped', '--base-url', app.origin, '--api-key-file', '-'],
      {},
      written(app.workspace.apiKey) as unknown as string,
    );
    expect(input).toMatchObject({ exitCode: 0 });
  });

  test('a key file without an end is not read to its end', async () => {
    const ran = await cli(['auth', 'login', '--base-url', app.origin, '--api-key-file', '/dev/zero', '--json']);
    expect({ exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ exitCode: 4, code: 'bad_key' });
  });

  test('a key that the service refuses is not saved', async () => {
    const ran = await cli([
      'auth',
      'login',
      '--base-url',
      app.origin,
      '--api-key-file',
      await keyFile(mintApiKey()),
      '--json',
    ]);
    expect(ran.exitCode).toBe(4);
    expect(errorOf(ran)).toMatchObject({ code: 'INVALID_API_KEY', status: 401, requestId: expect.any(String) });
    await expect(stat(file())).rejects.toThrow('ENOENT');
  });

  test('nothing is saved when nobody answers, or something else does', async () => {
    const path = await keyFile();
    const dead = await startOddServer();
    await dead.close();
    const lost = await cli(['auth', 'login', '--base-url', dead.origin, '--api-key-file', path, '--json']);
    expect({ exitCode: lost.exitCode, error: errorOf(lost) }).toMatchObject({
      exitCode: 1,
      error: { code: 'no_connection', message: `Nothing listens at ${dead.origin}.`, status: null },
    });
    odd.script(json(200, { hello: 'world' }));
    const other = await cli(['auth', 'login', '--base-url', odd.origin, '--api-key-file', path, '--json']);
    expect({ exitCode: other.exitCode, code: errorOf(other).code }).toEqual({ exitCode: 1, code: 'not_healthy' });
    await expect(stat(file())).rejects.toThrow('ENOENT');
  });

  test('a login is not overwritten without --force', async () => {
    await logIn();
    const before = await readFile(file(), 'utf8');
    const ran = await logIn('--json');
    expect({ exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ exitCode: 5, code: 'login_exists' });
    expect(await readFile(file(), 'utf8')).toBe(before);
    const key = app.stranger.apiKey;
    const forced = await cli(['auth', 'login', '--force', '--api-key-file', await keyFile(key)]);
    expect(forced.exitCode).toBe(0);
    expect((await saved()).default).toMatchObject({ apiKey: key, baseUrl: app.origin });
  });

  test('profiles stand beside each other, also when they are saved at the same moment', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const runs = await Promise.all(names.map((name) => logIn('--profile', name)));
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(Object.keys(await saved()).toSorted()).toEqual(names.toSorted());
    expect((await cli(['health', '--profile', 'two'])).exitCode).toBe(0);
    expect((await cli(['health'], { GUILDHALL_PROFILE: 'three' })).exitCode).toBe(0);
    expect((await cli(['health', '--profile', '../x', '--json'])).exitCode).toBe(2);
  });

  test('the lock of a process that was killed holds nobody for long', async () => {
    await logIn();
    await writeFile(`${file()}.lock`, '');
    expect((await logIn('--profile', 'second')).exitCode).toBe(0);
    expect(await readdir(folder())).toEqual(['config.json']);
  });

  test('a half-written config file is told, and replaced only by force', async () => {
    await logIn();
    await writeFile(file(), (await readFile(file(), 'utf8')).slice(0, 60));
    const used = await cli(['health', '--json']);
    expect({ exitCode: used.exitCode, error: errorOf(used) }).toMatchObject({
      exitCode: 4,
      error: { code: 'bad_config', message: expect.stringContaining(file()) },
    });
    expect((await logIn('--json')).exitCode).toBe(4);
    expect(
      (await cli(['health'], { GUILDHALL_API_KEY: app.workspace.apiKey, GUILDHALL_BASE_URL: app.origin })).exitCode,
    ).toBe(0);
    expect((await logIn('--force')).exitCode).toBe(0);
    expect((await cli(['health'])).exitCode).toBe(0);
  });

  test('a config file that is a link stays one', async () => {
    await logIn();
    const real = join(home, 'dotfiles.json');
    await writeFile(real, await readFile(file()));
    await rm(file());
    await symlink(real, file());
    expect((await logIn('--profile', 'other')).exitCode).toBe(0);
    expect(Object.keys(JSON.parse(await readFile(real, 'utf8')).profiles)).toEqual(['default', 'other']);
  });

  test('without a home folder it says what to set, and a folder that is named is used', async () => {
    const argv = ['auth', 'login', '--base-url', app.origin, '--api-key-file', await keyFile(), '--json'];
    const homeless = await guildhallCommand(argv, { cwd: home });
    expect({ exitCode: homeless.exitCode, error: errorOf(homeless) }).toMatchObject({
      exitCode: 2,
      error: { code: 'no_home', hint: expect.stringContaining('GUILDHALL_CONFIG_DIR') },
    });
    expect((await guildhallCommand(['health', '--json'], { cwd: home })).exitCode).toBe(4);
    const named = join(home, 'named');
    expect((await guildhallCommand(argv, { cwd: home, env: { GUILDHALL_CONFIG_DIR: named } })).exitCode).toBe(0);
    expect(await readdir(named)).toEqual(['config.json']);
    expect((await guildhallCommand(argv, { cwd: home, env: { XDG_CONFIG_HOME: join(home, 'xdg') } })).exitCode).toBe(0);
    expect(await readdir(join(home, 'xdg', 'guildhall'))).toEqual(['config.json']);
  });

  test('a folder that cannot be written to leaves nothing behind', async () => {
    const inTheWay = join(home, 'file');
    await writeFile(inTheWay, '');
    const argv = ['auth', 'login', '--base-url', app.origin, '--api-key-file', await keyFile(), '--json'];
    const ran = await guildhallCommand(argv, { cwd: home, env: { GUILDHALL_CONFIG_DIR: join(inTheWay, 'x') } });
    expect({ exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ exitCode: 2, code: 'cannot_save' });
  });
});

describe('which credential counts', () => {
  const whoami = async (argv: string[] = [], env: Record<string, string> = {}) => {
    const ran = await cli(['auth', 'whoami', ...argv], env);
    return { ...JSON.parse(ran.stdout), stderr: ran.stderr };
  };

  test('--api-key, then --api-key-file, then the variable, then the saved login', async () => {
    await logIn();
    const { workspace, stranger } = app;
    const other = { workspacePublicId: stranger.workspaceId };
    const own = { workspacePublicId: workspace.workspaceId };
    expect(await whoami()).toMatchObject({
      ...own,
      profile: 'default',
      credentialSource: file(),
      baseUrlSource: file(),
      baseUrl: app.origin,
    });
    const env = { GUILDHALL_API_KEY: stranger.apiKey };
    expect(await whoami([], env)).toMatchObject({ ...other, profile: null, credentialSource: 'GUILDHALL_API_KEY' });
    const path = await keyFile();
    expect(await whoami(['--api-key-file', 'key.txt'], env)).toMatchObject({
      ...own,
      credentialSource: path,
      stderr: '',
    });
    expect(await whoami(['--api-key-file', path, '--api-key', stranger.apiKey], env)).toMatchObject({
      ...other,
      credentialSource: '--api-key',
      stderr: expect.stringContaining('other users of this machine can see --api-key'),
    });
  });

  test('--base-url, then the variable; with the prefix of the API, too', async () => {
    const env = { GUILDHALL_API_KEY: app.workspace.apiKey, GUILDHALL_BASE_URL: 'http://127.0.0.1:1' };
    expect(await whoami(['--base-url', `${app.origin}/public/api/v1/`], env)).toMatchObject({
      baseUrlSource: '--base-url',
    });
    expect(await whoami([], { ...env, GUILDHALL_BASE_URL: app.origin })).toMatchObject({
      baseUrlSource: 'GUILDHALL_BASE_URL',
    });
    for (const address of ['ftp://x', 'nonsense', 'http://user:secret@127.0.0.1', ''])
      expect((await cli(['health', '--base-url', address], env)).exitCode).toBe(2);
  });

  test('a saved key is not sent to another origin', async () => {
    await logIn();
    odd.script(json(200, {}));
    const ran = await cli(['agents', 'list', '--json'], { GUILDHALL_BASE_URL: odd.origin });
    expect({ exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ exitCode: 5, code: 'other_address' });
    expect(odd.received).toEqual([]);
  });

  test('without any, it is exit code 4 and says what to do', async () => {
    const ran = await cli(['agents', 'list']);
    expect(ran).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining('guildhall auth login') });
  });

  test('whoami tells where a key came from that the service refuses', async () => {
    const env = { GUILDHALL_API_KEY: mintApiKey(), GUILDHALL_BASE_URL: app.origin };
    const { exitCode, stderr } = await cli(['auth', 'whoami'], env);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: expect.stringContaining('The key comes from GUILDHALL_API_KEY.'),
    });
  });

  test('a config file that others can read is told', async () => {
    await logIn();
    await chmod(file(), 0o644);
    expect((await cli(['health'])).stderr).toContain('chmod 600');
  });
});

describe('auth logout', () => {
  test('removes one profile, and the file with the last one', async () => {
    await logIn();
    await logIn('--profile', 'staging');
    expect((await cli(['auth', 'logout'])).exitCode).toBe(0);
    expect(Object.keys(await saved())).toEqual(['staging']);
    expect((await cli(['auth', 'logout', '--profile', 'staging'])).exitCode).toBe(0);
    expect(await readdir(folder())).toEqual([]);
    expect((await cli(['auth', 'logout', '--json'])).exitCode).toBe(4);
  });
});
