import type { FileHandle } from 'node:fs/promises';
import type { UploadFile } from '../../sdk/index.ts';

/** What a tool may read from the machine that it runs on. */
export interface FilePolicy {
  /** Folders whose files `file_path` may name. Empty: no file of this machine is read, only `file_base64` is taken. */
  folders: readonly string[];
}

/** A file argument that cannot be taken. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The arguments that give a file. */
export interface FileArguments {
  file_path?: string | undefined;
  file_base64?: string | undefined;
  file_name?: string | undefined;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * The file that the arguments give, undefined when they give none.
 * @throws FileRefused when the arguments contradict each other, the file is outside of the allowed folders, is no regular file or is
 * larger than `maxBytes`
 */
export async function fileOf(
  given: FileArguments,
  policy: FilePolicy,
  maxBytes: number,
): Promise<UploadFile | undefined> {
  const { file_path: path, file_base64: base64, file_name: name } = given;
  if (path !== undefined && base64 !== undefined) {
    throw new FileRefused('file_base64', 'comes instead of file_path, not with it');
  }
  if (path !== undefined) return fileAt(path, name, policy, maxBytes);
  if (base64 === undefined) {
    if (name !== undefined) throw new FileRefused('file_name', 'goes with file_path or file_base64');
    return undefined;
  }
  if (name === undefined || name.trim() === '') {
    throw new FileRefused('file_name', 'is needed with file_base64: the ending says what the file is');
  }
  return { data: bytesOf(base64, maxBytes), name };
}

function bytesOf(base64: string, maxBytes: number): Uint8Array<ArrayBuffer> {
  const text = base64.replace(/^data:[^,]*;base64,/, '').replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new FileRefused('file_base64', 'is not base64');
  if ((text.length * 3) / 4 > maxBytes + 3) throw new FileRefused('file_base64', tooLarge(maxBytes));
  const data = Uint8Array.from(Buffer.from(text, 'base64'));
  if (data.length > maxBytes) throw new FileRefused('file_base64', tooLarge(maxBytes));
  return data;
}

async function fileAt(
  path: string,
  name: string | undefined,
  { folders }: FilePolicy,
  maxBytes: number,
): Promise<UploadFile> {
  const [first] = folders;
  if (first === undefined) {
    throw new FileRefused('file_path', 'cannot be read by this server: send file_base64 and file_name');
  }
  const { constants, promises: fs } = await import('node:fs');
  const { basename, resolve, sep } = await import('node:path');
  const outside = new FileRefused('file_path', `is outside of the allowed folders: ${folders.join(', ')}`);
  const whole = resolve(first, path);
  let real: string;
  try {
    real = await fs.realpath(whole);
  } catch (error) {
    // Whether a file exists elsewhere is nobody's business.
    throw folders.some((folder) => whole.startsWith(resolve(folder) + sep)) ? unreadable(path, error) : outside;
  }
  if (!(await isInside(real, folders))) throw outside;
  // A link that takes the place of the file meanwhile is not followed, and a pipe does not block.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await fs.open(real, flags).catch((error) => Promise.reject(unreadable(path, error)));
  try {
    return { data: await contentOf(handle, maxBytes), name: name ?? basename(real) };
  } finally {
    await handle.close();
  }
}

async function contentOf(handle: FileHandle, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new FileRefused('file_path', 'is not a file');
  if (stats.size > maxBytes) throw new FileRefused('file_path', tooLarge(maxBytes));
  // One byte more than the file has shows that it grows while it is read.
  const data = new Uint8Array(stats.size + 1);
  let length = 0;
  while (length < data.length) {
    const { bytesRead } = await handle.read(data, length, data.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > stats.size) throw new FileRefused('file_path', 'changes while it is read');
  return data.slice(0, length);
}

/** Whether a real path is below one of the folders, links in their own paths resolved. A folder that does not exist has no files. */
async function isInside(real: string, folders: readonly string[]): Promise<boolean> {
  const { promises: fs } = await import('node:fs');
  const { isAbsolute, relative } = await import('node:path');
  for (const folder of folders) {
    const base = await fs.realpath(folder).catch(() => undefined);
    if (base === undefined) continue;
    const below = relative(base, real);
    if (below !== '' && below !== '..' && !/^\.\.[/\\]/.test(below) && !isAbsolute(below)) return true;
  }
  return false;
}

function unreadable(path: string, error: unknown): FileRefused {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? message})`;
  return new FileRefused('file_path', `${path} ${reason}`);
}

function tooLarge(maxBytes: number): string {
  return `is larger than ${maxBytes < MIB ? `${maxBytes / KIB} KiB` : `${maxBytes / MIB} MiB`}`;
}
