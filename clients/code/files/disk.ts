import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileFault, FileFaults } from '../faults.ts';

/**
 * Reads a file below a folder. `path` has `/` between its parts. undefined when there is none. Throws FileFaults when it, or a folder on the
 * way, is a symbolic link or no plain file, or when it has more bytes than `maxBytes`.
 */
export async function readFileBelow(folder: string, path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const absolute = await plainPath(folder, path);
  if (absolute === undefined) return undefined;
  // A link that takes the file's place meanwhile is not followed.
  const handle = await open(absolute, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw refused(path, `has ${size} bytes; at most ${maxBytes} are allowed.`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The absolute path of a plain file; undefined when it or a folder on the way is missing. */
async function plainPath(folder: string, path: string): Promise<string | undefined> {
  const parts = partsOf(path);
  let absolute = folder;
  for (const [index, part] of parts.entries()) {
    absolute = join(absolute, part);
    const found = await lstat(absolute).catch((error) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (!found) return undefined;
    const place = parts.slice(0, index + 1).join('/');
    if (found.isSymbolicLink())
      throw refused(place, 'is a symbolic link. Links are not followed: put the file itself here.');
    const last = index === parts.length - 1;
    if (last && !found.isFile()) throw refused(place, 'is no file.');
    if (!last && !found.isDirectory()) throw refused(place, 'is no folder.');
  }
  return absolute;
}

/** The parts of a path that stays below. Throws FileFaults for any other. */
function partsOf(path: string): string[] {
  const parts = path.split('/');
  if (
    path === '' ||
    /^[A-Za-z]:|[\\\0]/.test(path) ||
    parts.some((part) => part === '' || part === '.' || part === '..')
  )
    throw refused(path, 'leads out of the folder. Only files inside of it are read.');
  return parts;
}

function refused(path: string, problem: string): FileFaults {
  return new FileFaults([new FileFault(path, undefined, problem)]);
}

/** One name in a folder. */
export interface FolderItem {
  name: string;
  isFolder: boolean;
}

/**
 * What is in a folder below, sorted by name; undefined when there is no such folder. Hidden names and editors' backups are left out. Throws
 * FileFaults for symbolic links.
 */
export async function listFolderBelow(folder: string, path: string): Promise<FolderItem[] | undefined> {
  let absolute = folder;
  for (const part of partsOf(path)) {
    absolute = join(absolute, part);
    const found = await lstat(absolute).catch(() => undefined);
    if (!found) return undefined;
    if (found.isSymbolicLink())
      throw refused(path, 'is a symbolic link. Links are not followed: put the folder itself here.');
    if (!found.isDirectory()) throw refused(path, 'is no folder.');
  }
  const items = await readdir(absolute, { withFileTypes: true });
  return items
    .filter(({ name }) => !name.startsWith('.') && !name.endsWith('~'))
    .map((item) => {
      if (item.isSymbolicLink()) throw refused(`${path}/${item.name}`, 'is a symbolic link. Links are not followed.');
      return { name: item.name, isFolder: item.isDirectory() };
    })
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Paths of all files below a folder, at any depth, sorted and relative to it; empty when there is no such folder. */
export async function listFilesBelow(folder: string, path: string, depth = 0): Promise<string[]> {
  if (depth > 20) throw refused(path, 'has folders more than 20 deep.');
  const files: string[] = [];
  for (const { name, isFolder } of (await listFolderBelow(folder, path)) ?? []) {
    if (!isFolder) files.push(name);
    else for (const each of await listFilesBelow(folder, `${path}/${name}`, depth + 1)) files.push(`${name}/${each}`);
  }
  return files;
}

/** Writes a file as a whole: whoever reads it sees the former content or the new one. Folders on the way are made. */
export async function writeFileWhole(folder: string, path: string, content: Uint8Array): Promise<void> {
  const parts = partsOf(path);
  await plainPath(folder, path);
  const absolute = join(folder, ...parts);
  await mkdir(dirname(absolute), { recursive: true });
  const temporary = join(dirname(absolute), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o644);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, absolute);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes a file, and the folders above it that are empty then. A file that is gone is no error. */
export async function removeFileBelow(folder: string, path: string): Promise<void> {
  const parts = partsOf(path);
  if ((await plainPath(folder, path)) === undefined) return;
  await rm(join(folder, ...parts), { force: true });
  for (let depth = parts.length - 1; depth > 0; depth--) {
    try {
      await rmdir(join(folder, ...parts.slice(0, depth)));
    } catch {
      return;
    }
  }
}
