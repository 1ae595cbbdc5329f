import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'temporary-';
/** Folders of this age were left by a process that was killed: requests and jobs take minutes. */
const LEFTOVER_MS = 60 * 60 * 1000;

/** A new folder inside of `dir`, for files that are needed for minutes at most. The caller removes it. */
export async function makeTemporaryFolder(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return mkdtemp(join(dir, PREFIX));
}

/**
 * Removes the temporary folders inside of `dir` that killed processes left. Never rejects: folders that cannot be removed now stay
 * until the next call.
 */
export async function removeLeftovers(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const path = join(dir, name);
    const since = await stat(path).catch(() => undefined);
    const old = since !== undefined && Date.now() - since.mtimeMs > LEFTOVER_MS;
    if (old) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
