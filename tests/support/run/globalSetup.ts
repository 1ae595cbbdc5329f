import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PgBoss } from 'pg-boss';
import { startEmbedded } from '../../../db/embedded.ts';
import { migrate } from '../../../db/migrate.ts';
import { adminQuery, TEMPLATE_DATABASE, TEST_ADMIN_URL, TEST_LOGIN_URL } from '../db/database.ts';
import type { TestCluster } from './globalTeardown.ts';

/** A file system in memory. Each test file clones a database of some 400 files: on a disk that takes twice the time. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Where the cluster's files go: into memory where the machine has room for them there. */
async function baseFolder(): Promise<string> {
  const memory = await statfs(MEMORY).catch(() => undefined);
  return memory && memory.bavail * memory.bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
}

/** One PostgreSQL for the whole run, with a migrated database that each test file clones. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(await baseFolder(), 'guildhall-tests-'));
  const postgres = await startEmbedded({ dataDir: folder, unsafeFast: true });
  (globalThis as TestCluster).guildhallTestCluster = { postgres, folder };
  process.env[TEST_ADMIN_URL] = postgres.adminUrl;
  process.env[TEST_LOGIN_URL] = postgres.url();
  await adminQuery(`create database ${TEMPLATE_DATABASE} owner guildhall`);
  await migrate(postgres.url(TEMPLATE_DATABASE));
  // The queue makes its tables at its first start; once here is cheaper than once in each test file.
  const boss = new PgBoss({ connectionString: postgres.url(TEMPLATE_DATABASE), supervise: false, schedule: false });
  await boss.start();
  await boss.stop({ graceful: false });
}
