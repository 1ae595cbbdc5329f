import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSecretKeys } from '../core/secrets.ts';

/**
 * The key ring: the configured keys, or the key of the data folder, made at the first start. Whoever has the database without the
 * key cannot read the credentials in it; whoever loses the key cannot either.
 */
export async function secretKeysFor(configured: readonly Buffer[], dataDir: string): Promise<readonly Buffer[]> {
  if (configured.length > 0) return configured;
  const file = join(dataDir, 'secrets.key');
  const kept = await readKey(file);
  if (kept) return kept;
  await mkdir(dataDir, { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  // A link fails when the file is there: of two that start at once, both use the key of the first.
  await link(draft, file).catch((error: { code?: string }) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  const made = await readKey(file);
  if (!made) throw new Error(`${file} could not be written.`);
  return made;
}

async function readKey(file: string): Promise<Buffer[] | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
  const keys = parseSecretKeys(text);
  if (keys.length === 0) throw new Error(`${file} is empty. Put the key back, or set GUILDHALL_SECRETS_KEY.`);
  return keys;
}
