import { connectDatabase, type Database } from '../../db/connect.ts';
import { attachEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { databaseUrlOf, directUrlOf, isCitus } from '../../server/config.ts';

/**
 * Opens and migrates the database of `env`: `DATABASE_URL`, or the embedded one of `GUILDHALL_DATA_DIR`, which is started
 * for the duration of the command when no service runs it.
 */
export async function openDatabase(env: NodeJS.ProcessEnv): Promise<{ database: Database; close(): Promise<void> }> {
  const given = databaseUrlOf(env);
  const directUrl = directUrlOf(env);
  const embedded = given === undefined ? await attachEmbedded(env.GUILDHALL_DATA_DIR || './data') : undefined;
  const url = given ?? embedded?.url() ?? '';
  try {
    await migrate(directUrl ?? url);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  const database = connectDatabase(directUrl ?? url, {
    poolSize: 2,
    applicationName: 'guildhall-admin',
    citus: isCitus(env),
  });
  return {
    database,
    async close() {
      await database.end();
      await embedded?.stop();
    },
  };
}
