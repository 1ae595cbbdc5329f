import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSecretKeys, SecretBox } from '../../core/secrets.ts';
import { databaseUrlOf } from '../../server/config.ts';
import { secretKeysFor } from '../../server/secretKeys.ts';
import { CommandError, UsageError } from './command.ts';

/** A file of settings with more characters is none. */
const MAX_SETTINGS = 100_000;

/**
 * The box that the service's secrets are sealed with. Throws CommandError where it would make a key of its own, which the service would
 * not have.
 */
export function secretsOf(env: NodeJS.ProcessEnv): SecretBox {
  const keys = parseSecretKeys(env.GUILDHALL_SECRETS_KEY ?? '');
  const dataDir = env.GUILDHALL_DATA_DIR || './data';
  const isOurs = env.GUILDHALL_DATA_DIR || databaseUrlOf(env) === undefined || existsSync(join(dataDir, 'secrets.key'));
  if (keys.length === 0 && !isOurs) {
    throw new CommandError(
      'Set GUILDHALL_SECRETS_KEY or GUILDHALL_DATA_DIR as the service has it: it could not read the secrets.',
    );
  }
  return new SecretBox(secretKeysFor(keys, dataDir).load);
}

/**
 * The JSON object of an option: written out, in a file, or `-` for the standard input, so that secrets need not be in the history of a
 * shell. Throws UsageError, which never repeats what was read.
 */
export function jsonObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'string' || value === '') throw new UsageError(`${name} is missing`);
  let text = value;
  if (!value.trimStart().startsWith('{')) {
    try {
      text = readFileSync(value === '-' ? 0 : value, 'utf8');
    } catch {
      throw new UsageError(`${name} must be a JSON object, a file that has one, or - for the standard input`);
    }
  }
  if (text.length > MAX_SETTINGS) throw new UsageError(`${name} must have at most ${MAX_SETTINGS} characters`);
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // The error of the parser would repeat a part of the text.
  }
  throw new UsageError(`${name} must be a JSON object`);
}
