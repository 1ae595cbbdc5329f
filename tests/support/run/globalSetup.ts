import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { PgBoss } from 'pg-boss';
import { startEmbedded } from '../../../db/embedded.ts';
import { migrate } from '../../../db/migrate.ts';
import { TEST_DEMO } from '../../faults/demoFolder.ts';
import { adminQuery, TEMPLATE_DATABASE, TEST_ADMIN_URL, TEST_LOGIN_URL } from '../db/database.ts';
import { TEST_STATEMENTS } from '../db/statementLint.ts';
import type { TestCluster } from './globalTeardown.ts';
import { memoryFolder } from './memoryFolder.ts';

/** One PostgreSQL for the whole run, with a migrated database that each test file clones. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(await memoryFolder(), 'guildhall-tests-'));
  const postgres = await startEmbedded({ dataDir: folder, unsafeFast: true });
  (globalThis as TestCluster).guildhallTestCluster = { postgres, folder };
  process.env[TEST_ADMIN_URL] = postgres.adminUrl;
  process.env[TEST_LOGIN_URL] = postgres.url();
  process.env[TEST_STATEMENTS] = join(folder, 'statements');
  process.env[TEST_DEMO] = join(folder, 'demo');
  // Commands that tests start, again and again, load their modules in half the time.
  process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, '../../../node_modules/.cache/guildhall');
  await adminQuery(`create database ${TEMPLATE_DATABASE} owner guildhall`);
  await migrate(postgres.url(TEMPLATE_DATABASE));
  // The queue makes its tables at its first start; once here is cheaper than once in each test file.
  const boss = new PgBoss({ connectionString: postgres.url(TEMPLATE_DATABASE), supervise: false, schedule: false });
  await boss.start();
  await boss.stop({ graceful: false });
}
