import { randomBytes } from 'node:crypto';
import {
  access,
  constants,
  type FileHandle,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { UnreadableConfig } from './edit/format.ts';

/** ~/.claude.json of years of work has some megabytes. A tree of 32 MiB of JSON takes 2 GB of memory and some seconds. */
const MAX_CONFIG_BYTES = 32 * 1024 * 1024;

/** A lock whose time stamp is older than this was left behind by a process that died. */
const STALE_LOCK_MS = 10_000;
const LOCK_POLL_MS = 25;
const MAX_LOCK_POLLS = 800;
const BYTE_ORDER_MARK = '\ufeff';

/** A file's text as it is now. A file that does not exist is an empty text. */
export interface ConfigText {
  exists: boolean;
  /** Without a byte order mark. */
  text: string;
  mark: boolean;
}

/**
 * Reads a client's file.
 * @throws UnreadableConfig when it is no text in UTF-8, too large or no file
 */
export async function readConfig(path: string): Promise<ConfigText> {
  const found = await unlessMissing(stat(path));
  // Asked before it is opened: opening a named pipe waits for whoever writes into it.
  if (found && !found.isFile()) throw new UnreadableConfig('is not a file');
  if (found && found.size > MAX_CONFIG_BYTES) throw new UnreadableConfig('is too large to be changed safely');
  const bytes = found && (await unlessMissing(readFile(path)));
  if (!bytes) return { exists: false, text: '', mark: false };
  const whole = decoded(bytes);
  const mark = whole.startsWith(BYTE_ORDER_MARK);
  return { exists: true, text: mark ? whole.slice(1) : whole, mark };
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UnreadableConfig('is not text in UTF-8');
  }
}

/**
 * Changes a client's file: reads it, and when `change` answers another text, writes that to a file beside it and moves it into place, so
 * that a reader sees the old or the new text and nothing between. A symbolic link stays one: the file that it names is changed. The mode
 * and, where the system allows it, the owner stay. Two such changes come one after the other. `undefined` removes the file.
 * @returns whether the file changed
 */
export async function changeConfig(
  path: string,
  change: (before: ConfigText) => string | undefined,
  { mode = 0o600 }: { mode?: number } = {},
): Promise<boolean> {
  const target = await linkedFile(path);
  const seen = await readConfig(target);
  if (!differs(seen, change(seen))) return false;
  await mkdir(dirname(target), { recursive: true, mode: mode === 0o600 ? 0o700 : 0o777 });
  return withLock(target, async () => {
    for (;;) {
      const before = await readConfig(target);
      const after = change(before);
      if (!differs(before, after)) return false;
      if (await replaced(target, before, after, mode)) return true;
    }
  });
}

function differs(before: ConfigText, after: string | undefined): boolean {
  return after === undefined ? before.exists : !before.exists || before.text !== after;
}

/** Puts the new text in place, unless somebody without our lock (a client) has changed the file since it was read: then it answers false. */
async function replaced(path: string, before: ConfigText, after: string | undefined, mode: number): Promise<boolean> {
  const beside = resolve(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
  const old = before.exists ? await stat(path) : undefined;
  // A file may be replaced in a folder that is ours even when it may not be written; but then somebody has said so.
  if (old) await access(path, constants.W_OK);
  try {
    if (after !== undefined) {
      const file = await open(beside, 'wx', old ? old.mode & 0o7777 : mode);
      try {
        if (old) await file.chmod(old.mode & 0o7777);
        if (old && (old.uid !== process.getuid?.() || old.gid !== process.getgid?.())) await keepOwner(file, old);
        await file.writeFile((before.mark ? BYTE_ORDER_MARK : '') + after);
        await file.sync();
      } finally {
        await file.close();
      }
    }
    const now = await readConfig(path);
    if (now.exists !== before.exists || now.text !== before.text) {
      if (after !== undefined) await unlink(beside);
      return false;
    }
    if (after === undefined) await unlink(path);
    else await rename(beside, path);
    return true;
  } catch (error) {
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}

async function keepOwner(file: FileHandle, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  await file.chown(uid, gid).catch(() => undefined); // only root may; another's file that we may replace becomes ours
}

/** The file at the end of the symbolic links, there or not. */
async function linkedFile(path: string, hops = 40): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || hops === 0) throw error;
  }
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? resolve(path) : linkedFile(resolve(dirname(path), link), hops - 1);
}

/**
 * Holds a lock of the kind that proper-lockfile makes (https://github.com/moxystudio/node-proper-lockfile): a folder beside the file.
 * The work takes milliseconds, so the time stamp need not be kept fresh.
 */
async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  for (let polls = 0; !(await isLocked(lock)); polls += 1) {
    if (polls === MAX_LOCK_POLLS) throw new UnreadableConfig(`is in use: ${lock} does not go away`);
    await pause(LOCK_POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rmdir(lock).catch(() => undefined);
  }
}

/** Tries to take the lock, and removes one that nobody holds. */
async function isLocked(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = await unlessMissing(stat(lock));
  if (found && Date.now() - found.mtimeMs > STALE_LOCK_MS) await rmdir(lock).catch(() => undefined);
  return false;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
