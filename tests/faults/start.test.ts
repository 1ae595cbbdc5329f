import { once } from 'node:events';
import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import { adminQuery, createEmptyDatabase, createTestDatabase } from '../support/db/database.ts';
import { startDatabaseProxy } from '../support/db/databaseProxy.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/poll.ts';
import { cleanUp, demoOf, expectPromptExit, freshFolder, launch, startService } from './service.ts';

afterEach(cleanUp);

/** Starts the service with settings that it must refuse; returns its exit code and output. */
async function refused(env: NodeJS.ProcessEnv) {
  const service = launch({ GUILDHALL_DATA_DIR: await freshFolder(), ...env });
  const { code } = await service.ended;
  return { code, ...service.output() };
}

describe('a setting that cannot be used ends the start with one line that names it', () => {
  // tests/server/config.test.ts has the others: they are read by the same function.
  test.each([
    ['PORT', '80a'],
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

  test('where nothing answers ends the start after the time that is set, with a line every five seconds', async () => {
    const port = await freePort();
    const url = `postgres://me:s3cret-word@127.0.0.1:${port}/x`;
    const since = performance.now();
    const { code, stdout, stderr } = await refused({ DATABASE_URL: url, GUILDHALL_DATABASE_WAIT_SECONDS: '11' });
    expect(performance.now() - since).toBeGreaterThan(11_000);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^DATABASE_URL 127.0.0.1:${port}/x cannot be used: connect ECONNREFUSED [^\n]+\n$`),
    );
    const waiting = stdout.match(
      /DATABASE_URL 127\.0\.0\.1:\d+\/x does not answer, and is waited for: connect ECONNREFUSED/g,
    );
    expect(waiting?.length).toBeGreaterThanOrEqual(2);
    expect(stdout + stderr).not.toContain('s3cret-word');
  });

  test('that takes no connections yet is waited for: the service is alive, not ready, and starts by itself', async () => {
    const database = await createTestDatabase();
    const { apiKey } = await database.seedWorkspace();
    const proxy = await startDatabaseProxy(database.url);
    await proxy.cut();
    const port = await freePort();
    const env = { DATABASE_URL: proxy.url, GUILDHALL_DATA_DIR: await freshFolder(), PORT: String(port) };
    const starting = startService(env);
    const origin = `http://127.0.0.1:${port}`;
    const get = (path: string) => fetch(origin + path, { headers: { 'X-Api-Key': apiKey } });
    await until(() =>
      get('/livez').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    expect((await get('/readyz')).status).toBe(503);
    const early = await get('/public/api/v1/health');
    expect([early.status, await early.json()]).toMatchObject([503, { code: 'UNAVAILABLE' }]);
    await proxy.mend();
    expect((await starting).origin).toBe(origin);
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/public/api/v1/health')).status).toBe(200);
    await cleanUp();
    await proxy.cut();
    await database.drop();
  });

  test('is not waited for after SIGTERM', async () => {
    const url = `postgres://me@127.0.0.1:${await freePort()}/x`;
    const port = await freePort();
    const service = launch({ DATABASE_URL: url, PORT: String(port) });
    await until(() =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    service.child.kill('SIGTERM');
    await expectPromptExit(service);
    expect(service.output().stderr).toBe('');
  });

  test.each([
    ['another password', (url: URL) => (url.password = 'wrong-word'), /password authentication failed/],
    ['a database that is not there', (url: URL) => (url.pathname = '/nowhere'), /database "nowhere" does not exist/],
  ])('with %s ends the start at once: no wait mends it', async (_what, change, reason) => {
    const database = await createEmptyDatabase();
    const url = new URL(database.url);
    change(url);
    const { code, stdout, stderr } = await refused({ DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL [\d.:]+\/\w+ cannot be used: [^\n]+\n$/);
    expect(stderr).toMatch(reason);
    expect(stdout + stderr).not.toContain('wrong-word');
    await database.drop();
  });

  test('of a pooler is waited for as well, and named, though the database behind it answers', async () => {
    const database = await createTestDatabase();
    const pooler = `postgres://me:s3cret-word@127.0.0.1:${await freePort()}/x`;
    const { code, stdout, stderr } = await refused({
      DATABASE_URL: pooler,
      GUILDHALL_DATABASE_DIRECT_URL: database.url,
      GUILDHALL_DATABASE_WAIT_SECONDS: '6',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL 127\.0\.0\.1:\d+\/x cannot be used: connect ECONNREFUSED [^\n]+\n$/);
    expect(stdout).toMatch(/"DATABASE_URL [^"]+ does not answer, and is waited for: connect ECONNREFUSED/);
    await database.drop();
  });

  test('of a newer version is named', async () => {
    const database = await createTestDatabase();
    await adminQuery("insert into schema_migrations (name, checksum) values ('9999_later.sql', 'x')", database.name);
    const { code, stderr } = await refused({ DATABASE_URL: database.url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL [^\n]+ cannot be used: The database has migration 9999_later.sql, [^\n]+\n$/);
    await database.drop();
  });
});

describe('a port that cannot be listened on', () => {
  test('ends the start before the database is touched and before a data folder is made', async () => {
    const database = await createEmptyDatabase();
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const PORT = String((occupant.address() as AddressInfo).port);
    const dataDir = await freshFolder();
    for (const more of [{ DATABASE_URL: database.url }, {}]) {
      const { code, stderr } = await refused({ PORT, GUILDHALL_DATA_DIR: dataDir, ...more });
      expect([code, stderr]).toEqual([
        1,
        `PORT ${PORT} cannot be used: listen EADDRINUSE: address already in use 127.0.0.1:${PORT}\n`,
      ]);
    }
    occupant.close();
    const schemas = "select schema_name from information_schema.schemata where schema_name = 'pgboss'";
    const tables = "select table_name from information_schema.tables where table_schema = 'public'";
    expect(await adminQuery(`${schemas} union ${tables}`, database.name)).toEqual([]);
    await expect(access(dataDir)).rejects.toThrow('ENOENT');
    await database.drop();
  });

  test.each(['192.0.2.1', 'no-such-host.invalid'])('HOST=%s is named', async (HOST) => {
    const { code, stderr } = await refused({ HOST });
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^HOST ${HOST} cannot be used: [^\n]+\n$`));
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
