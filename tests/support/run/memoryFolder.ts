import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** A file system in memory. Creating a database takes some 400 files: on a disk that takes twice the time. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** The folder for the files of databases: in memory where the machine has room for them there, else the usual one. */
export async function memoryFolder(): Promise<string> {
  const memory = await statfs(MEMORY).catch(() => undefined);
  return memory && memory.bavail * memory.bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
}
