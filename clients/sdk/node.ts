import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { UploadFile } from './types.ts';

/**
 * A file on the disk, to upload under its own name. It is read whole: the service takes 20 MiB at most.
 * @throws Error of the system, such as ENOENT, when it cannot be read
 */
export async function fileFrom(
  path: string,
  { name = basename(path), type }: { name?: string; type?: string } = {},
): Promise<UploadFile> {
  // `openAsBlob` would read it while it is sent, and prints a warning on Node.js 20.
  return { data: await readFile(path), name, type };
}
