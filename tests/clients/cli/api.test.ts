import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeReadyAgent } from '../../support/agents/agents.ts';
import {
  type CommandLineOptions,
  CommandSession,
  guildhallCommand,
  type Ran,
} from '../../support/clients/commandLine.ts';
import {
  apiError,
  hangUp,
  json,
  type OddServer,
  silence,
  startOddServer,
  stream,
} from '../../support/clients/oddServer.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { until } from '../../support/poll.ts';

let app: TestApp;
let odd: OddServer;
let folder: string;
beforeAll(async () => {
  [app, odd] = await Promise.all([startTestApp(), startOddServer()]);
  folder = await mkdtemp(join(tmpdir(), 'guildhall-api-'));
});
afterAll(async () => {
  await Promise.all([app.close(), odd.close()]);
  await rm(folder, { recursive: true });
});

const live = (argv: string[], more: CommandLineOptions = {}): Promise<Ran> =>
  guildhallCommand(argv, {
    cwd: folder,
    ...more,
    env: { GUILDHALL_BASE_URL: app.origin, GUILDHALL_API_KEY: app.workspace.apiKey },
  });
const stub = (argv: string[], more: CommandLineOptions = {}): Promise<Ran> =>
  guildhallCommand(argv, {
    cwd: folder,
    ...more,
    env: { GUILDHALL_BASE_URL: odd.origin, GUILDHALL_API_KEY: 'gsk_any' },
  });
const errorOf = ({ stdout }: Ran) => JSON.parse(stdout).error;
const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('paths', () => {
  test('without a slash, with one, with the prefix, and as a whole address', async () => {
    for (const path of ['health', '/health', '/public/api/v1/health', `${app.origin}/public/api/v1/health`]) {
      const { exitCode, stdout } = await live(['api', 'get', path]);
      expect({ path, exitCode, body: JSON.parse(stdout) }).toMatchObject({ exitCode: 0, body: { status: 'ok' } });
    }
  });

  test('an address of another origin, or outside the API, gets neither key nor request', async () => {
    odd.script(json(200, {}));
    const other = odd.origin.replace('127.0.0.1', 'localhost');
    for (const path of [
      odd.origin,
      `${odd.origin}/public/api/v1/health`,
      `${other}/public/api/v1/health`,
      '//localhost/x',
      'file:///etc/passwd',
      '../../hooks/x',
      'http://x@127.0.0.1/',
    ]) {
      const ran = await live(['api', 'GET', path, '--json']);
      expect({ path, exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ path, exitCode: 2, code: 'usage' });
    }
    expect(odd.received).toEqual([]);
  });
});

describe('requests', () => {
  test('a body inline, from a file with line ends of Windows, and from the input', async () => {
    await writeFile(join(folder, 'agent.json'), '\uFEFF{\r\n  "name": "From a file"\r\n}\r\n');
    const inline = await live(['api', 'POST', '/agents', '--body', '{"name":"Inline"}']);
    const fromFile = await live(['api', 'POST', '/agents', '--body', '@agent.json']);
    const fromInput = await live(['api', 'POST', '/agents', '--body', '-'], { stdin: '{"name":"From the input"}' });
    expect([inline, fromFile, fromInput].map(({ stdout }) => JSON.parse(stdout).name)).toEqual([
      'Inline',
      'From a file',
      'From the input',
    ]);
  });

  test('names of the query may repeat, and headers arrive', async () => {
    odd.script(json(200, {}));
    await stub([
      'api',
      'GET',
      'agents?a=1',
      '-q',
      'status=active',
      '-q',
      'status=draft',
      '-q',
      'search=a=b&c',
      '--page',
      '2',
      '--limit',
      '5',
      '-H',
      'X-Trace: one: two',
    ]);
    expect(odd.received[0]).toMatchObject({
      url: '/public/api/v1/agents?a=1&status=active&status=draft&search=a%3Db%26c&page=2&limit=5',
      headers: {
        'x-trace': 'one: two',
        'x-api-key': 'gsk_any',
        'user-agent': expect.stringMatching(/^guildhall-cli\/\d/),
      },
    });
  });

  test.each([
    [['api', 'FETCH', '/agents']],
    [['api', 'GET']],
    [['api', 'GET', '/agents', '--query', 'status']],
    [['api', 'GET', '/agents', '--limit', 'many']],
    [['api', 'GET', '/agents', '--page', '1', '--query', 'page=2']],
    [['api', 'GET', '/agents', '--header', 'nonsense']],
    [['api', 'GET', '/agents', '--header', 'X-Api-Key: mine']],
    [['api', 'GET', '/agents', '--header', 'a: b\r\nc: d']],
    [['api', 'GET', '/agents', '--body', '{}']],
    [['api', 'POST', '/agents', '--body', '{"name":']],
    [['api', 'POST', '/agents', '--body', '@missing.json']],
    [['api', 'POST', '/agents', '--all']],
    [['api', 'GET', '/agents', '--unknown']],
    [['api', 'GET', '/agents', '--timeout', '-1']],
    [['agents', 'lst']],
    [['agents']],
    [['nothing']],
    [['agents', 'list', '--limit', 'ten']],
    [['agents', 'list', '--status', 'sleeping']],
    [['agents', 'get']],
    [['agents', 'get', 'a', 'b']],
    [['agents', 'get', '..']],
    [['agents', 'create']],
    [['agents', 'create', '--name', 'x', '--null', 'name']],
    [['agents', 'create', '--body', '[1]', '--name', 'x']],
    [['agents', 'update', 'id']],
    [['skills', 'update', 'id', '--body', 'no json']],
    [['http-tools', 'create', '--name', 'x', '--tool-type', 'HTTP_REQUEST', '--configuration', '{']],
  ])('%j is wrong usage: exit code 2, an error as JSON, and no request', async (argv) => {
    odd.script(json(200, {}));
    const ran = await stub([...argv, '--json']);
    expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 2, stderr: '' });
    const error = errorOf(ran);
    expect(error.message).not.toContain('\n');
    expect(Object.keys(error)).toEqual(['code', 'message', 'hint', 'status', 'requestId', 'details']);
    expect(error.message).toMatch(/\S/);
    expect(odd.received).toEqual([]);
    // For people it is on stderr.
    expect(await stub(argv)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/\S/) });
  });
});

describe('answers', () => {
  test('--include shows status and headers before the body', async () => {
    const { stdout } = await live(['api', 'GET', 'health', '--include']);
    expect(stdout).toMatch(/^HTTP 200.*\n(.+: .+\n)*x-request-id: .+\n(.+: .+\n)*\n\{"status":"ok"/);
  });

  test.each([
    [400, 'VALIDATION_ERROR', 2],
    [401, 'INVALID_API_KEY', 4],
    [403, 'FORBIDDEN', 4],
    [404, 'AGENT_NOT_FOUND', 3],
    [409, 'AGENT_NAME_TAKEN', 5],
    [422, 'AGENT_LIMIT_REACHED', 2],
    [500, 'INTERNAL_ERROR', 1],
  ])('status %i ends with its exit code, in `api` and in commands', async (status, code, exitCode) => {
    odd.script(apiError(status, code));
    for (const argv of [
      ['api', 'GET', 'agents'],
      ['agents', 'list'],
      ['api', 'GET', 'agents', '--all'],
      ['agents', 'list', '--all'],
    ]) {
      const ran = await stub([...argv, '--json']);
      expect({ argv, exitCode: ran.exitCode, error: errorOf(ran) }).toMatchObject({
        exitCode,
        error: { code, status, message: `This is ${code}.`, requestId: 'request-1', details: [] },
      });
      const forPeople = await stub(argv);
      expect(forPeople).toMatchObject({ exitCode, stdout: '' });
      expect(forPeople.stderr).toContain(`This is ${code}. (${status} ${code})`);
    }
  });

  test('an error page of a proxy, a lost connection and silence each are a sentence', async () => {
    odd.script((response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>\u001b]0;x\u0007Bad</h1>'),
    );
    const page = await stub(['api', 'GET', 'agents']);
    expect(page.exitCode).toBe(1);
    expect(page.stderr).not.toContain('\u001b');
    odd.script(hangUp);
    const lost = await stub(['api', 'POST', 'agents', '--body', '{}', '--json']);
    expect({ exitCode: lost.exitCode, code: errorOf(lost).code }).toEqual({ exitCode: 1, code: 'no_connection' });
    odd.script(silence);
    const late = await stub(['agents', 'list', '--timeout', '0.05', '--json']);
    expect({ exitCode: late.exitCode, code: errorOf(late).code }).toEqual({ exitCode: 1, code: 'timed_out' });
  });

  test('a page of something else with status 200 is exit code 1', async () => {
    odd.script((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'));
    const ran = await stub(['agents', 'list', '--json']);
    expect({ exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ exitCode: 1, code: 'UNREADABLE_RESPONSE' });
  });

  test('Ctrl-C while a file is written leaves nothing behind', async () => {
    odd.script((response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' });
      response.write('half');
    });
    const session = new CommandSession(['api', 'GET', 'report', '-o', 'report.pdf', '--include'], {
      cwd: folder,
      env: { GUILDHALL_BASE_URL: odd.origin, GUILDHALL_API_KEY: 'gsk_any' },
    });
    await session.shows('application/pdf');
    await until(() => readdirSync(folder).some((name) => name.endsWith('.tmp')));
    session.interrupt();
    expect(await session.ended).toMatchObject({ exitCode: 130 });
    expect(readdirSync(folder).filter((name) => name.startsWith('report'))).toEqual([]);
  });

  test('a stream is printed as it comes', async () => {
    odd.script(stream('event: text-delta\ndata: {"text":"Hel'));
    const session = new CommandSession(
      ['api', 'POST', 'agents/x/messages/stream', '--body', '{"content":"Hi"}', '--timeout', '1'],
      {
        env: { GUILDHALL_BASE_URL: odd.origin, GUILDHALL_API_KEY: 'gsk_any' },
      },
    );
    await session.shows('{"text":"Hel');
    expect((await session.ended).exitCode).toBe(1);
  });

  test('bytes are refused on a terminal, saved to a file as they are, and passed through a pipe', async () => {
    const bytes = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]), randomBytes(200_000)]);
    odd.script((response) => response.writeHead(200, { 'content-type': 'image/png' }).end(bytes));
    const refused = await stub(['api', 'GET', 'logo'], { columns: 80 });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('--output FILE') });
    expect(await stub(['api', 'GET', 'logo', '--output', 'logo.png'])).toMatchObject({ exitCode: 0, stdout: '' });
    expect((await readFile(join(folder, 'logo.png'))).equals(bytes)).toBe(true);
  });

  test('a download that breaks off leaves the file as it was', async () => {
    await writeFile(join(folder, 'kept.txt'), 'before');
    odd.script((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });
    const ran = await stub(['api', 'GET', 'report', '-o', 'kept.txt', '--json']);
    expect({ exitCode: ran.exitCode, code: errorOf(ran).code }).toEqual({ exitCode: 1, code: 'no_connection' });
    expect(await readFile(join(folder, 'kept.txt'), 'utf8')).toBe('before');
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const nowhere = await stub(['api', 'GET', 'report', '-o', 'missing/kept.txt', '--json']);
    expect({ exitCode: nowhere.exitCode, code: errorOf(nowhere).code }).toEqual({ exitCode: 1, code: 'cannot_write' });
  });

  test('text on a terminal cannot drive it', async () => {
    odd.script((response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('one\u001b[2Jtwo'));
    const { exitCode, stdout } = await stub(['api', 'GET', 'notes'], { columns: 80 });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'one␛[2Jtwo' });
  });
});

describe('--all', () => {
  const page = (number: number, totalPages: number, ...names: string[]) =>
    json(200, { items: names.map((publicId) => ({ publicId })), page: number, limit: 2, total: 9, totalPages });

  test('walks through the pages as they come, an item a line', async () => {
    for (let count = 0; count < 5; count += 1) await live(['agents', 'create', '--name', `walk ${count}`]);
    const names = ['walk 4', 'walk 3', 'walk 2', 'walk 1', 'walk 0'];
    const any = await live(['api', 'GET', '/agents?search=walk', '--limit', '2', '--all']);
    expect(lines(any.stdout).map(({ name }) => name)).toEqual(names);
    const command = await live(['agents', 'list', '--search', 'walk', '--limit', '2', '--all']);
    expect(lines(command.stdout).map(({ name }) => name)).toEqual(names);
    const table = await live(['agents', 'list', '--search', 'walk', '--all'], { columns: 160 });
    for (const name of names) expect(table.stdout).toContain(name);
  });

  test('asks for pages of 100, and leaves out what a new item pushed onto the next page', async () => {
    odd.script(page(1, 2, 'a', 'b'), page(2, 2, 'b', 'c'));
    const { stdout } = await stub(['api', 'GET', 'agents', '--query', 'status=active', '--all']);
    expect(lines(stdout).map(({ publicId }) => publicId)).toEqual(['a', 'b', 'c']);
    expect(odd.received.map(({ url }) => url)).toEqual([
      '/public/api/v1/agents?status=active&limit=100',
      '/public/api/v1/agents?status=active&limit=100&page=2',
    ]);
  });

  test('waits as long as the service asks, says so, and goes on', async () => {
    const waits: number[] = [];
    const busy = apiError(429, 'RATE_LIMITED', { 'retry-after': '120' });
    odd.script(page(1, 2, 'a'), busy, busy, page(2, 2, 'b'));
    const ran = await stub(['api', 'GET', 'agents', '--all'], {
      wait: async (ms) => {
        waits.push(ms);
      },
    });
    expect(lines(ran.stdout)).toEqual([{ publicId: 'a' }, { publicId: 'b' }]);
    expect(waits).toEqual([120_000, 120_000]);
    expect(ran.stderr).toContain('asks to wait 120 s');
  });

  test('a list without pages is whole, which is said; what is no list is an error', async () => {
    const ran = await live(['api', 'GET', '/channel-types', '--all']);
    expect(lines(ran.stdout).length).toBeGreaterThan(2);
    expect(ran.stderr).toContain('no pages');
    const wrong = await live(['api', 'GET', '/health', '--all', '--json']);
    expect({ exitCode: wrong.exitCode, code: errorOf(wrong).code }).toEqual({ exitCode: 2, code: 'not_a_list' });
  });

  test('an error in the middle comes after what was there', async () => {
    odd.script(page(1, 2, 'a'), apiError(500, 'INTERNAL_ERROR'));
    const ran = await stub(['api', 'GET', 'agents', '--all', '--json']);
    expect(ran.exitCode).toBe(1);
    expect(lines(ran.stdout)).toEqual([
      { publicId: 'a' },
      { error: expect.objectContaining({ code: 'INTERNAL_ERROR' }) },
    ]);
  });
});

test('publish tells on stderr what is silently wrong with the agent', async () => {
  const { publicId } = await makeReadyAgent(app, { systemPrompt: 'In {{Größe}}.', dynamicPromptEnabled: true });
  const { exitCode, stdout, stderr } = await live(['agents', 'publish', publicId, '--json']);
  expect([exitCode, JSON.parse(stdout).publishedVersionNumber]).toEqual([0, 1]);
  expect(stderr).toContain('Warnings: variable_not_defined (Größe)');
});
