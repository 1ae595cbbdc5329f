import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';

const root = join(import.meta.dirname, '../..');

/** The text of generated/db.ts: the types of a database made by the migrations alone, in a PostgreSQL of its own. */
export async function databaseTypes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-codegen-'));
  const server = await startEmbedded({ dataDir: join(folder, 'data'), unsafeFast: true });
  try {
    const url = server.url();
    await migrate(url);
    const cli = join(root, 'node_modules/kysely-codegen/dist/cli/bin.js');
    const file = join(folder, 'db.ts');
    const config = join(root, 'db/kysely-codegen.json');
    await promisify(execFile)(process.execPath, [cli, '--config-file', config, '--url', url, '--out-file', file], {
      cwd: folder,
    });
    return await readFile(file, 'utf8');
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}
