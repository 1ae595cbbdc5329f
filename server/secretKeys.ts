import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSecretKeys } from '../core/secrets.ts';

/**
 * The key ring: the configured keys, or the key of the data folder, which is made when it is first needed. Whoever has the
 * database without the key cannot read the credentials in it; whoever loses the key cannot either.
 */
export function secretKeysFor(configured: readonly Buffer[], dataDir: string): readonly Buffer[] {
  if (configured.length > 0) return configured;
  const file = join(dataDir, 'secrets.key');
  const kept = readKey(file);
  if (kept) return kept;
  mkdirSync(dataDir, { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    // A link fails when the file is there: of two processes that come at once, both use the key of the first.
    linkSync(draft, file);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  const made = readKey(file);
  if (!made) throw new Error(`${file} could not be written.`);
  return made;
}

function readKey(file: string): Buffer[] | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
  const keys = parseSecretKeys(text);
  if (keys.length === 0) throw new Error(`${file} is empty. Put the key back, or set GUILDHALL_SECRETS_KEY.`);
  return keys;
}
