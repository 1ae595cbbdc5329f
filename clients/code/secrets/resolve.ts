import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { SecretReference } from './reference.ts';

/** Where references are looked up. */
export interface SecretSource {
  env: Readonly<Record<string, string | undefined>>;
  /** The folder of guildhall.yaml: a `file:` path is relative to it, and stays inside. */
  folder: string;
}

/** A reference that leads to no value. The message never holds a secret. */
export class SecretMissing extends Error {
  constructor(reference: SecretReference, problem: string) {
    super(`${reference}: ${problem}`);
    this.name = 'SecretMissing';
  }
}

/** Bytes of a file with a secret. No secret of the API is longer than 8,192 characters. */
const MAX_BYTES = 65_536;

/**
 * The value behind a reference. One line end at the end of a file is no part of it; other line ends are. An absolute path is read only inside
 * the folder that `GUILDHALL_SECRETS_DIR` names: whoever writes the YAML file must not choose which files of this machine leave it. Throws
 * SecretMissing.
 */
export async function resolveSecret(reference: SecretReference, source: SecretSource): Promise<string> {
  if (reference.startsWith('env:')) {
    const value = source.env[reference.slice('env:'.length)];
    if (value === undefined) throw new SecretMissing(reference, 'the variable is not set.');
    if (value === '') throw new SecretMissing(reference, 'the variable is empty.');
    return value;
  }
  const value = await readSecretFile(reference, source);
  if (value === '') throw new SecretMissing(reference, 'the file is empty.');
  return value;
}

async function readSecretFile(reference: SecretReference, { env, folder }: SecretSource): Promise<string> {
  const path = reference.slice('file:'.length);
  const root = isAbsolute(path) ? env.GUILDHALL_SECRETS_DIR : folder;
  if (!root)
    throw new SecretMissing(
      reference,
      'an absolute path is read only inside the folder that GUILDHALL_SECRETS_DIR names.',
    );
  let real: string;
  let realRoot: string;
  try {
    [real, realRoot] = await Promise.all([realpath(resolve(root, path)), realpath(root)]);
  } catch (error) {
    throw new SecretMissing(reference, problemOf(error));
  }
  // Links are followed before the check: a link may lead out of the folder.
  if (!isInside(realRoot, real)) throw new SecretMissing(reference, 'the file is outside of the folder.');
  let bytes: Buffer;
  try {
    bytes = await readFile(real);
  } catch (error) {
    throw new SecretMissing(reference, problemOf(error));
  }
  if (bytes.length > MAX_BYTES) throw new SecretMissing(reference, `the file has more than ${MAX_BYTES} bytes.`);
  return bytes.toString('utf8').replace(/\r?\n$/, '');
}

/** Whether a path is below a folder. Both are real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function problemOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'the file does not exist.';
  if (code === 'EISDIR') return 'is a folder.';
  return `the file cannot be read (${code ?? 'unknown error'}).`;
}
