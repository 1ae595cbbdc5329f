import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import { createEmptyDatabase } from '../support/db/database.ts';
import { cleanUp, demoOf, expectPromptExit, freshFolder, launch, startService } from './service.ts';

jest.setTimeout(60_000); // each test starts processes, some with a PostgreSQL

afterEach(cleanUp);

/** Starts the service with settings that it must refuse; returns its exit code and output. */
async function refused(env: NodeJS.ProcessEnv) {
  const service = launch({ GUILDHALL_DATA_DIR: await freshFolder(), ...env });
  const { code } = await service.ended;
  return { code, ...service.output() };
}

describe('a setting that cannot be used ends the start with one line that names it', () => {
  test.each([
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['GUILDHALL_RATE_LIMIT', '-1'],
    ['GUILDHALL_POOL_SIZE', '1'],
    ['GUILDHALL_BACKGROUND_TURNS', '0'],
    ['GUILDHALL_ALLOW_PRIVATE_NETWORK', 'yes'],
    ['GUILDHALL_NAME_SERVERS', 'dns.example.com'],
    ['GUILDHALL_LOG_LEVEL', 'loud'],
    ['OPENAI_COMPATIBLE_BASE_URL', 'localhost:8080'],
    ['DATABASE_URL', 'localhost/guildhall'],
    ['DATABASE_URL', 'mysql://localhost/guildhall'],
    ['GUILDHALL_ROLE', 'worker'],
    ['GUILDHALL_DATA_DIR', '/proc/nowhere'],
    ['GUILDHALL_DATA_DIR', '/etc/hosts'],
    ['GUILDHALL_DATA_DIR', '/etc/hosts/below'],
  ])('%s=%s', async (name, value) => {
    const { code, stdout, stderr } = await refused({ [name]: value });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(new RegExp(`^${name}[ =][^\n]+\n$`));
  });
});

test('a port in use is reported in one line, and the demo key is still shown by the next start', async () => {
  const occupant = createServer();
  await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve));
  const { port } = occupant.address() as AddressInfo;
  const dataDir = await freshFolder();
  const { code, stdout, stderr } = await refused({ GUILDHALL_DATA_DIR: dataDir, PORT: String(port) });
  occupant.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^[^\n]*127.0.0.1:${port}[^\n]*\n$`));
  expect(stdout).not.toMatch(/^ready/m);
  const next = await startService({ GUILDHALL_DATA_DIR: dataDir });
  expect(demoOf(next).key).toMatch(/^gsk_/);
});

describe('DATABASE_URL', () => {
  test('accepts a database of one’s own: no data folder, no demo workspace, and more than one service', async () => {
    const database = await createEmptyDatabase();
    const dataDir = await freshFolder();
    const env = { DATABASE_URL: database.url, GUILDHALL_DATA_DIR: dataDir };
    const services = await Promise.all([startService(env), startService(env)]);
    for (const service of services) {
      expect((await fetch(`${service.origin}/readyz`)).status).toBe(200);
      expect(service.output().stdout).not.toContain('demo');
      service.child.kill('SIGTERM');
      await expectPromptExit(service);
    }
    await expect(access(dataDir)).rejects.toThrow('ENOENT');
    await database.drop();
  });

  test('where nothing answers ends the start, without its password in the output', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const { code, stdout, stderr } = await refused({ DATABASE_URL: `postgres://me:s3cret-word@127.0.0.1:${port}/x` });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stdout + stderr).not.toContain('s3cret-word');
  });
});

test('a key file that cannot be used ends the start with one line, before any secret is read', async () => {
  const database = await createEmptyDatabase();
  const dataDir = await freshFolder();
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'secrets.key'), 'hunter2');
  const { code, stdout, stderr } = await refused({ DATABASE_URL: database.url, GUILDHALL_DATA_DIR: dataDir });
  expect([code, stdout.includes('ready')]).toEqual([1, false]);
  expect(stderr).toBe(
    `${join(dataDir, 'secrets.key')} holds no key. Put the key back, or set GUILDHALL_SECRETS_KEY.\n`,
  );
  await database.drop();
});

test('a start removes the uploads, files being read and files being stored that killed processes left behind', async () => {
  const database = await createEmptyDatabase();
  const dataDir = await freshFolder();
  for (const place of ['tmp', 'files/.drafts']) {
    const folder = await makeTemporaryFolder(join(dataDir, place));
    await writeFile(join(folder, 'file'), 'x');
    await utimes(folder, 0, 0);
  }
  await startService({ DATABASE_URL: database.url, GUILDHALL_DATA_DIR: dataDir });
  for (const place of ['tmp', 'files/.drafts']) expect(await readdir(join(dataDir, place))).toEqual([]);
  await cleanUp();
  await database.drop();
});
