import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSecretKeys } from '../core/secrets.ts';

/**
 * The key ring: the configured keys, or the key of the data folder. `load` makes that key when it is first needed: a service that keeps
 * no secrets needs none. The credentials in the database cannot be read without the key, not even by the operator.
 * Throws at once when the folder has a key that cannot be used.
 */
export function secretKeysFor(configured: readonly Buffer[], dataDir: string): { load: () => readonly Buffer[] } {
  if (configured.length > 0) return { load: () => configured };
  const file = join(dataDir, 'secrets.key');
  const kept = readKey(file);
  return { load: () => kept ?? readKey(file) ?? makeKey(file, dataDir) };
}

function makeKey(file: string, dataDir: string): readonly Buffer[] {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    // A link fails when the file is there: of two processes that come at once, both use the key of the first.
    linkSync(draft, file);
    flush(dataDir); // before anything is sealed with it
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  const made = readKey(file);
  if (!made) throw new Error(`${file} could not be written.`);
  return made;
}

function flush(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function readKey(file: string): readonly Buffer[] | undefined {
  const remedy = 'Put the key back, or set GUILDHALL_SECRETS_KEY.';
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read (${code}). ${remedy}`, { cause });
  }
  try {
    const keys = parseSecretKeys(text);
    if (keys.length > 0) return keys;
  } catch {
    // The message of the error names the setting, not the file.
  }
  throw new Error(`${file} holds no key. ${remedy}`);
}
