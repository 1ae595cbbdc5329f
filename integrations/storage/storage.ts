/** There is no file under the key. */
export class FileMissing extends Error {}

/** The storage returned an error or did not respond. The message says which, and contains no credentials. */
export class StorageError extends Error {}

/**
 * The store of uploaded files. The service makes the keys, of letters, digits, `-`, `_`, `.` and `/`. A key that leads out of the
 * store throws.
 */
export interface FileStore {
  /** Stores a file under the key and replaces an earlier one. The file is durable when this resolves, and not visible before. */
  put(key: string, source: { path: string } | Uint8Array): Promise<void>;
  /** Copies the content to a local file. Throws FileMissing. */
  fetch(key: string, path: string): Promise<void>;
  /** Removes the file. Does nothing when there is none. */
  delete(key: string): Promise<void>;
}

/** Throws when the key could lead out of the store. */
export function checkKey(key: string): void {
  const sound = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(key) && key.length <= 500;
  if (!sound) throw new Error('A storage key has segments of letters, digits, hyphens, dots and underscores.');
}
