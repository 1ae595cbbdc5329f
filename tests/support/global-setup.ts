import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { adminQuery, TEMPLATE_DATABASE, TEST_ADMIN_URL, TEST_LOGIN_URL } from './database.ts';
import type { TestCluster } from './global-teardown.ts';

/** One PostgreSQL for the whole run, with a migrated database that each test file clones. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-tests-'));
  const postgres = await startEmbedded({ dataDir: folder, unsafeFast: true });
  (globalThis as TestCluster).guildhallTestCluster = { postgres, folder };
  process.env[TEST_ADMIN_URL] = postgres.adminUrl;
  process.env[TEST_LOGIN_URL] = postgres.url();
  await adminQuery(`create database ${TEMPLATE_DATABASE} owner guildhall`);
  await migrate(postgres.url(TEMPLATE_DATABASE));
}
