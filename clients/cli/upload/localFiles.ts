import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { Failure } from '../failure.ts';
import { plainLine } from '../terminal/plain.ts';
import { sizeText } from './size.ts';

/** A file that is there, can be read, and is not too big. */
export interface LocalFile {
  /** As the user gave it, or as a pattern found it: for messages. */
  shown: string;
  path: string;
  /** Its last part. */
  name: string;
  bytes: number;
}

/** What is said about paths: against which folder they stand, and on which system. */
export interface Place {
  cwd: string;
  platform: NodeJS.Platform;
}

const MAGIC = /[*?[\]{}!()]/;

/**
 * The files that the arguments name, each once, in the order of the arguments; what one pattern finds is sorted. Patterns are expanded here
 * because some shells do not, and quoted ones are not. A file whose name looks like a pattern is that file.
 * @throws Failure (exit 2) in one sentence when a file is missing, is a folder, cannot be read, is empty or is over `maxBytes`, or when
 * nothing matches: before anything is sent.
 */
export async function localFiles(args: readonly string[], place: Place, maxBytes: number): Promise<LocalFile[]> {
  const found = new Map<string, LocalFile>();
  for (const arg of args)
    for (const shown of await expanded(arg, place)) {
      const file = await localFile(shown, place, maxBytes);
      if (!found.has(file.path)) found.set(file.path, file);
    }
  return [...found.values()];
}

/** One file. Throws as `localFiles` does. */
export async function localFile(shown: string, { cwd }: Pick<Place, 'cwd'>, maxBytes: number): Promise<LocalFile> {
  const path = resolve(cwd, shown);
  const about = await statOf(shown, path);
  if (about.isDirectory())
    throw refused(
      'is_folder',
      `${named(shown)} is a folder, and one file is needed.`,
      `Name its files: '${plainLine(shown)}/*'.`,
    );
  if (!about.isFile()) throw refused('not_a_file', `${named(shown)} is not a file.`);
  await access(path, constants.R_OK).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(shown, error);
  });
  if (about.size === 0) throw refused('file_empty', `${named(shown)} is empty.`);
  if (about.size > maxBytes)
    throw refused(
      'file_too_large',
      `${named(shown)} has ${sizeText(about.size)}. At most ${sizeText(maxBytes)} can be sent.`,
    );
  return { shown, path, name: basename(path), bytes: about.size };
}

/** The sentence for a file that the system does not give. */
export function unreadable(shown: string, error: NodeJS.ErrnoException): Failure {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    return refused('file_not_found', `There is no file ${named(shown)}.`);
  if (error.code === 'EACCES' || error.code === 'EPERM')
    return refused('file_unreadable', `You may not read ${named(shown)}.`);
  return refused('file_unreadable', `${named(shown)} cannot be read: ${error.code ?? error.message}.`);
}

async function statOf(shown: string, path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw unreadable(shown, error as NodeJS.ErrnoException);
  }
}

async function expanded(arg: string, { cwd, platform }: Place): Promise<string[]> {
  if (arg === '') throw refused('file_not_found', 'The name of a file is empty.');
  if (!MAGIC.test(arg) || (await exists(resolve(cwd, arg)))) return [arg];
  const pattern = platform === 'win32' ? arg.replaceAll('\\', '/') : arg;
  // A link may lead back to a folder above it, and out of what the pattern says.
  const matches = await glob(pattern, { cwd, onlyFiles: true, expandDirectories: false, followSymbolicLinks: false });
  if (matches.length === 0) throw refused('file_not_found', `No file matches ${named(arg)}.`);
  return matches.sort();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function named(shown: string): string {
  return `"${plainLine(shown)}"`;
}

function refused(code: string, message: string, hint?: string): Failure {
  return new Failure(code, 2, message, { hint });
}
