import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { schemaText } from './schema.ts';

const root = join(import.meta.dirname, '../..');

/** The files of generated/ that describe the database, by name: made from the migrations alone, in a PostgreSQL of its own. */
export async function databaseFiles(): Promise<{ 'db.ts': string; 'schema.sql': string }> {
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
    return { 'db.ts': await readFile(file, 'utf8'), 'schema.sql': await schemaText(url) };
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}
