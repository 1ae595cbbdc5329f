import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { displayApiKey, hashApiKey, mintApiKey } from '../../core/apiKey.ts';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../db/embedded.ts';
import { databaseFault } from '../../db/errors.ts';
import { migrate } from '../../db/migrate.ts';
import { insertApiKey, revokeApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import { insertWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/db/databaseProxy.ts';
import { until } from '../support/poll.ts';
import { call, cleanUp, freshFolder, type ServiceProcess, startService } from './service.ts';

/** The database says nothing any more, and closes no connection: a server that hangs, and a failover that leaves old connections behind. */

/** What takes ten seconds may take three times as long on a busy machine. Without a deadline it took over a minute. */
const RECOVERY_MS = 30_000;

const readyz = async (origin: string) => {
  const startedAt = performance.now();
  const { status } = await fetch(`${origin}/readyz`);
  return { status, ms: performance.now() - startedAt };
};

describe('a failover that leaves old connections silent', () => {
  let direct: TestDatabase;
  let proxy: DatabaseProxy;

  beforeAll(async () => {
    direct = await createTestDatabase();
    proxy = await startDatabaseProxy(direct.url);
  });
  afterAll(async () => {
    await cleanUp();
    await proxy.cut();
    await direct.drop();
  });

  test('is over within seconds, for requests, notifications and the queue', async () => {
    const { apiKey } = await direct.seedWorkspace();
    const other = await direct.seedWorkspace();
    const { origin } = await startService({ DATABASE_URL: proxy.url, GUILDHALL_DATA_DIR: await freshFolder() });
    const status = async (key: string) => (await call(origin, key, 'GET', '/agents')).status;
    // Many connections, which are all silent afterwards.
    expect(new Set(await Promise.all(Array.from({ length: 12 }, () => status(apiKey))))).toEqual(new Set([200]));
    expect(await status(other.apiKey)).toBe(200);
    proxy.hush();
    const during = await Promise.all(Array.from({ length: 12 }, () => call(origin, apiKey, 'GET', '/agents')));
    for (const answer of during) {
      expect([200, 503]).toContain(answer.status);
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    await until(async () => (await status(apiKey)) === 200, RECOVERY_MS);
    expect(new Set(await Promise.all(Array.from({ length: 12 }, () => status(apiKey))))).toEqual(new Set([200]));
    await until(async () => (await readyz(origin)).status === 200, RECOVERY_MS);
    // Over the connection of the notifications, which nobody asks anything.
    await revokeApiKey(direct.database.system, other.apiKeyId);
    await until(async () => (await status(other.apiKey)) === 401, RECOVERY_MS);
  });

  test('notifications arrive again, and that some were missed is told', async () => {
    const through = connectDatabase(proxy.url);
    const heard: string[] = [];
    let gaps = 0;
    await through.listen(
      'silence',
      (payload) => heard.push(payload),
      () => (gaps += 1),
    );
    proxy.hush();
    await until(() => gaps > 0, RECOVERY_MS);
    await sql`select pg_notify('silence', 'again')`.execute(direct.database.system);
    await until(() => heard.includes('again'), RECOVERY_MS);
    await through.end();
  });

  test('a statement is given up a little after the time that the server has for it, and its connection is closed', async () => {
    const through = connectDatabase(proxy.url, { poolSize: 1, statementTimeoutMs: 500 });
    const ask = () => sql`select 1 as one`.execute(through.system);
    await ask();
    proxy.hush(true);
    const failure = await ask().catch((error: unknown) => error);
    expect(databaseFault(failure)).toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    proxy.unhush();
    expect((await ask()).rows).toEqual([{ one: 1 }]);
    await through.end();
  });
});

describe('a server that hangs', () => {
  let postgres: EmbeddedPostgres;
  let dataDir: string;
  let service: ServiceProcess;
  let apiKey: string;

  /** The server and its processes, also those that begin later. */
  function processes(): number[] {
    const [first] = readFileSync(join(dataDir, 'postgres/pgdata/postmaster.pid'), 'utf8').split('\n');
    const parent = Number(first);
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === parent;
        } catch {
          return false; // It has ended meanwhile.
        }
      });
    return [parent, ...children.map(Number)];
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of processes()) process.kill(pid, name);
  };

  beforeAll(async () => {
    dataDir = await freshFolder();
    postgres = await startEmbedded({ dataDir, unsafeFast: true });
    await migrate(postgres.url());
    const database = connectDatabase(postgres.url(), { poolSize: 2 });
    apiKey = mintApiKey();
    const { id } = await insertWorkspace(database.system, { id: newId(), name: 'Silence' });
    const display = displayApiKey(apiKey);
    await insertApiKey(database.system, {
      id: newId(),
      workspaceId: id,
      name: 'Key',
      hash: hashApiKey(apiKey),
      display,
    });
    await database.end();
    service = await startService({ DATABASE_URL: postgres.url(), GUILDHALL_DATA_DIR: await freshFolder() });
  });
  afterAll(async () => {
    await cleanUp();
    await postgres.stop();
  });

  test('readyz says no after two seconds, keys are answered with 503 after a few, and all is well when it goes on', async () => {
    const { origin } = service;
    expect((await call(origin, apiKey, 'GET', '/agents')).status).toBe(200);
    signal('SIGSTOP');
    try {
      const ready = await readyz(origin);
      expect(ready.status).toBe(503);
      expect(ready.ms).toBeLessThan(15_000);
      const unknown = await call(origin, mintApiKey(), 'GET', '/health');
      expect(unknown.status).toBe(503);
      expect(unknown.headers.get('retry-after')).toMatch(/^\d+$/);
      expect((await fetch(`${origin}/livez`)).status).toBe(200);
      await sleep(500);
    } finally {
      signal('SIGCONT');
    }
    await until(async () => (await readyz(origin)).status === 200, RECOVERY_MS);
    await until(async () => (await call(origin, apiKey, 'GET', '/agents')).status === 200, RECOVERY_MS);
  });
});
