import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { API_VERSION } from '../../../generated/calls.ts';
import { json, type OddServer, startOddServer } from '../../support/clients/oddServer.ts';

/*
 * The package as a stranger gets it: packed, unpacked in an empty folder without any other package, and run as processes.
 */
const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** A Node.js of the machine that is older than ours, as the package promises; none on some machines. */
const olderNode = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((path) => /^v2[0-2]\./.test(versionOf(path)));

function versionOf(path: string): string {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

let folder: string;
let program: string;
let server: OddServer;
beforeAll(async () => {
  server = await startOddServer();
  folder = mkdtempSync(join(tmpdir(), 'guildhall-package-'));
  await run('npm', ['pack', '--silent', '--pack-destination', folder, join(root, 'clients/cli')], { cwd: folder });
  const [archive = ''] = readdirSync(folder);
  await run('tar', ['xzf', archive], { cwd: folder });
  program = join(folder, 'package/dist/guildhall.js');
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  GUILDHALL_API_KEY: 'gsk_any',
  GUILDHALL_BASE_URL: server.origin,
  ...more,
});
/** Runs a line of the shell, in which `$GUILDHALL` is the program. */
async function shell(line: string, env = environment(), cwd = folder) {
  const child = spawn('bash', ['--norc', '-c', line], {
    cwd,
    env: { ...env, GUILDHALL: `${process.execPath} ${program}` },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const exitCode = await new Promise((resolve) => child.on('close', resolve));
  return { exitCode, stdout, stderr };
}

test('it has the version of the document', async () => {
  expect((await run(process.execPath, [program, '--version'])).stdout).toBe(`${API_VERSION}\n`);
});

test.each([
  ['this Node', process.execPath],
  ['an older Node', olderNode],
])('it runs on %s, in a process that ends by itself', async (_, node) => {
  if (!node) return console.log('Skipped: this machine has no other Node.');
  server.script(json(200, { items: [{ publicId: 'a' }], page: 1, limit: 100, total: 1, totalPages: 1 }));
  const { stdout } = await run(node, [program, 'agents', 'list', '--all'], { env: environment(), cwd: folder });
  expect(stdout).toBe('{"publicId":"a"}\n');
  expect((await run(node, [program, '--help'])).stdout).toContain('Exit codes:');
});

test('on a Node that is too old it says which one it needs', async () => {
  const line = `node -e 'Object.defineProperty(process, "versions", { value: { node: "18.20.0" } }); import(process.argv[1])' ${program}`;
  const { exitCode, stderr } = await shell(line);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'guildhall needs Node 20 or newer, and this is 18.20.0.\n',
  });
});

test('a reader that leaves early ends it quietly', async () => {
  const items = Array.from({ length: 20_000 }, (_, index) => ({ publicId: `agent-${index}`, text: 'x'.repeat(100) }));
  server.script(json(200, items));
  for (const line of [
    '$GUILDHALL api GET channel-types --all | head -1',
    '$GUILDHALL api GET channel-types | head -c 10',
  ])
    expect(await shell(`set -o pipefail; ${line}`)).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^.{10}/),
      stderr: line.includes('--all') ? 'This list has no pages: it is whole.\n' : '',
    });
  expect(await shell('$GUILDHALL --help | true')).toMatchObject({ stderr: '' });
});

test('megabytes arrive whole, also when they are read slowly', async () => {
  const text = 'x'.repeat(8_000_000);
  server.script(json(200, { text }));
  const { exitCode, stdout } = await shell('$GUILDHALL api GET big | (sleep 0.2; wc -c)');
  expect({ exitCode, bytes: Number(stdout) }).toEqual({ exitCode: 0, bytes: JSON.stringify({ text }).length });
});

test('a full disk is a sentence and exit code 1', async () => {
  server.script(json(200, { status: 'ok' }));
  for (const line of ['health', 'health --json', '--help', 'nothing --json']) {
    const { exitCode, stderr } = await shell(`$GUILDHALL ${line} > /dev/full`);
    expect({ line, exitCode, stderr }).toMatchObject({
      exitCode: line.startsWith('nothing') ? 2 : 1,
      stderr: expect.stringContaining('guildhall: '),
    });
  }
  expect((await shell('$GUILDHALL nothing 2> /dev/full')).exitCode).toBe(2);
});

test('it works without a home folder, and in a folder that is gone', async () => {
  server.script(json(200, { status: 'ok' }));
  expect((await shell('$GUILDHALL health', environment({ HOME: '' }))).exitCode).toBe(0);
  const gone = join(folder, 'gone');
  await mkdir(gone);
  expect((await shell('rmdir ../gone && $GUILDHALL health', environment(), gone)).exitCode).toBe(0);
});
