import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const POLL_MS = 25;

/** An exclusive claim on a data folder; ends with `release()` or with the process, however it ends. */
export type FolderLock = { release(): void };

// An unreferenced handle would be closed by the garbage collector, and the lock with it.
const held = new Set<DatabaseSync>();

/**
 * Claims `folder` for this process, or returns undefined when another process has it.
 * Node has no flock(2). SQLite's exclusive transaction is the same thing: an fcntl lock on a file, which the kernel drops
 * when the process dies, kill -9 included, and which containers that share a volume respect where they do not share process ids.
 */
function tryLockFolder(folder: string): FolderLock | undefined {
  const file = join(folder, 'service.lock');
  closeSync(openSync(file, 'a', 0o600)); // a user who could read it could also lock it
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  held.add(database);
  return {
    release() {
      if (held.delete(database)) database.close();
    },
  };
}

/** As `tryLockFolder`, but retries until `timeoutMs` have passed. */
export async function lockFolder(folder: string, timeoutMs: number): Promise<FolderLock | undefined> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const lock = tryLockFolder(folder);
    if (lock || Date.now() >= deadline) return lock;
    await sleep(POLL_MS);
  }
}
