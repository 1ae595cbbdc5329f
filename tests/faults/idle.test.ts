import { setTimeout as sleep } from 'node:timers/promises';
import { adminQuery, createTestDatabase } from '../support/db/database.ts';
import { cleanUp, freshFolder, startService } from './service.ts';

afterEach(cleanUp);

/** The start has ended after this time, and is in the statistics: PostgreSQL writes those of a session that got idle after ten seconds. */
const SETTLING_MS = 15_000;
const WATCHED_SECONDS = 20;

test('an idle service asks its database at most once a second', async () => {
  const scratch = await createTestDatabase();
  const service = await startService({ DATABASE_URL: scratch.url, GUILDHALL_DATA_DIR: await freshFolder() });
  const transactions = async () => {
    const rows = await adminQuery<{ ended: string }>(
      `select xact_commit + xact_rollback as ended from pg_stat_database where datname = '${scratch.name}'`,
    );
    return Number(rows[0]?.ended);
  };
  await sleep(SETTLING_MS);
  const before = await transactions();
  await sleep(WATCHED_SECONDS * 1000);
  expect((await transactions()) - before).toBeLessThanOrEqual(WATCHED_SECONDS);
  service.child.kill('SIGTERM');
  await service.ended;
  await scratch.drop();
});
