import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import { checkKey, FileMissing, type FileStore } from './storage.ts';

/** Flushes a file or folder to the disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the folder in which a folder store writes files before it moves them into place. No key names it. */
export function draftsOf(root: string): string {
  return join(root, '.drafts');
}

/** Stores files in a folder of this machine, which is created with the first file. */
export function folderStore(root: string): FileStore {
  const pathOf = (key: string) => {
    checkKey(key);
    return resolve(root, key);
  };
  return {
    async put(key, source) {
      const path = pathOf(key);
      const folder = dirname(path);
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      // A new folder is durable once its parent folder is flushed.
      for (let each = folder; made !== undefined && each.length >= made.length; each = dirname(each))
        await sync(dirname(each));
      // Written on the same disk and renamed: a reader never sees half a file, and a crash leaves the old one.
      const drafts = await makeTemporaryFolder(draftsOf(root));
      const draft = join(drafts, 'file');
      try {
        if (source instanceof Uint8Array) await writeFile(draft, source);
        else await copyFile(source.path, draft);
        // A copy has the mode of its source.
        await chmod(draft, 0o600);
        await sync(draft);
        await rename(draft, path);
      } finally {
        await rm(drafts, { recursive: true, force: true });
      }
      await sync(folder);
    },
    async fetch(key, path) {
      try {
        await copyFile(pathOf(key), path);
        await chmod(path, 0o600);
      } catch (error) {
        if ((error as { code?: string }).code === 'ENOENT')
          throw new FileMissing(`There is no file ${key}.`, { cause: error });
        throw error;
      }
    },
    async delete(key) {
      await rm(pathOf(key), { force: true });
    },
  };
}
