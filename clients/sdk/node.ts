import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { UploadFile } from './types.ts';

/**
 * A file on the disk, to upload under its own name. It is read while it is sent.
 * @throws Error of the system, such as ENOENT, when it cannot be opened
 */
export async function fileFrom(
  path: string,
  { name = basename(path), type }: { name?: string; type?: string } = {},
): Promise<UploadFile> {
  return { data: await openAsBlob(path), name, type };
}
