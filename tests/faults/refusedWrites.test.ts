import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { postgresAccount } from '../../db/embedded/account.ts';
import { adminQuery, createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { until } from '../support/poll.ts';
import { memoryFolder } from '../support/run/memoryFolder.ts';
import { call, cleanUp, freshFolder, json, type ServiceProcess, startService } from './service.ts';

/** The database answers and takes no writes: it is read-only, or its disk is full. */

const RECOVERY_MS = 30_000;

let disk: string | undefined;

afterEach(async () => {
  await cleanUp();
  if (!disk) return;
  // Also when the test has failed and PostgreSQL still has files there.
  execFileSync('umount', ['--lazy', disk]);
  await rm(disk, { recursive: true });
  disk = undefined;
});

async function readyz({ origin }: ServiceProcess): Promise<{ status: number; reason?: string }> {
  const response = await fetch(`${origin}/readyz`);
  const { reason } = (await response.json()) as { reason?: string };
  return { status: response.status, ...(reason !== undefined && { reason }) };
}

interface Written extends ServiceProcess {
  apiKey: string;
  agentId: string;
}

async function startWith(database: TestDatabase): Promise<Written> {
  const { apiKey } = await database.seedWorkspace();
  const service = await startService({
    DATABASE_URL: database.url,
    GUILDHALL_DATA_DIR: await freshFolder(),
    GUILDHALL_ROLE: 'api',
  });
  const { publicId: agentId } = await json(call(service.origin, apiKey, 'POST', '/agents', { name: 'Ada' }));
  return { ...service, apiKey, agentId };
}

/** Stores some kilobytes that cannot be compressed. */
const write = ({ origin, apiKey, agentId }: Written) =>
  call(origin, apiKey, 'PATCH', `/agents/${agentId}`, { systemPrompt: randomBytes(6_000).toString('base64') });

/** Refused writes leave one line, whatever their number, and no stack. */
async function expectRefusals(service: Written, reason: string): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const answer = await write(service);
    expect([n, answer.status]).toEqual([n, 503]);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await answer.json()).toMatchObject({ code: 'UNAVAILABLE' });
  }
  expect(await readyz(service)).toEqual({ status: 503, reason });
  const told = () =>
    service
      .output()
      .stdout.split('\n')
      .filter((line) => /"level":(40|50|60)/.test(line));
  await until(() => told().length > 0);
  // A lost connection may have been told besides.
  expect(told().filter((line) => !line.includes('database connection lost'))).toEqual([
    expect.stringContaining(`"msg":"writes fail: ${reason}"`),
  ]);
  expect(told().join('\n')).not.toContain('writes fail: the database is out of memory');
  expect(service.output().stdout).not.toMatch(/"stack":"(?!Error: Connection|error: terminating)/);
}

test('a read-only database: reads go on, writes are 503, and it is over when it is over', async () => {
  const database = await createTestDatabase();
  const service = await startWith(database);
  const setReadOnly = async (change: string) => {
    await adminQuery(`alter database ${database.name} ${change}`);
    await adminQuery(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.name}' and application_name = 'guildhall'`,
    );
  };
  expect((await write(service)).status).toBe(200);
  expect(await readyz(service)).toEqual({ status: 200 });
  await setReadOnly('set default_transaction_read_only = on');
  await until(async () => (await readyz(service)).reason === 'the database is read-only', RECOVERY_MS);
  await until(async () => (await call(service.origin, service.apiKey, 'GET', '/agents')).status === 200, RECOVERY_MS);
  await expectRefusals(service, 'the database is read-only');
  await setReadOnly('reset default_transaction_read_only');
  await until(async () => (await readyz(service)).status === 200, RECOVERY_MS);
  expect((await write(service)).status).toBe(200);
  await database.drop();
});

/** A folder on a small disk of its own, for PostgreSQL; undefined where none can be had. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await mkdtemp(join(await memoryFolder(), 'guildhall-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  const account = await postgresAccount();
  if (account) await chown(folder, account.uid, account.gid);
  return folder;
}

test('a full disk: writes are 503, and it is over when there is room again', async () => {
  const database = await createTestDatabase();
  const folder = await smallDisk();
  disk = folder;
  const space = `space_${database.name}`;
  if (folder) {
    await adminQuery(`create tablespace ${space} location '${folder}'`);
    await adminQuery(`alter database ${database.name} set tablespace ${space}`);
  } else process.stderr.write('No small disk can be mounted here: a trigger stands in for a full one.\n');
  const service = await startWith(database);
  expect((await write(service)).status).toBe(200);
  const filler = join(folder ?? '', 'filler');
  if (folder) {
    const block = Buffer.alloc(64 * 1024);
    await expect(
      (async () => {
        for (;;) await appendFile(filler, block);
      })(),
    ).rejects.toMatchObject({ code: 'ENOSPC' });
    // Pages that are there already have room for a few rows.
    await until(async () => (await write(service)).status === 503, RECOVERY_MS);
  } else {
    await adminQuery(
      `create function no_room() returns trigger language plpgsql as $$ begin
         raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
       create trigger no_room before update on agents execute function no_room()`,
      database.name,
    );
    expect((await write(service)).status).toBe(503);
  }
  if (folder) await expectRefusals(service, 'the disk of the database is full');
  if (folder) await rm(filler);
  else await adminQuery('drop trigger no_room on agents', database.name);
  await until(async () => (await readyz(service)).status === 200, RECOVERY_MS);
  expect((await write(service)).status).toBe(200);
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
  if (folder) {
    await adminQuery(`drop tablespace ${space}`);
  }
});
