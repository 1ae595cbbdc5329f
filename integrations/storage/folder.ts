import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

/** Keeps files in a folder of this machine, made when the first file comes. */
export function folderStore(root: string): FileStore {
  const pathOf = (key: string) => {
    checkKey(key);
    return join(root, key);
  };
  return {
    async put(key, source) {
      const path = pathOf(key);
      const folder = dirname(path);
      const made = await mkdir(folder, { recursive: true });
      if (made !== undefined) await sync(dirname(made));
      // Written beside its place and renamed: a reader never sees half a file, and a crash leaves the old one.
      const draft = `${path}.${randomUUID()}`;
      try {
        if (source instanceof Uint8Array) await writeFile(draft, source);
        else await copyFile(source.path, draft);
        await sync(draft);
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await sync(folder);
    },
    async fetch(key, path) {
      try {
        await copyFile(pathOf(key), path);
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
