/** There is no file under the key. */
export class FileMissing extends Error {}

/** The storage answered with an error, or not at all. Its message says which, and carries no credentials. */
export class StorageError extends Error {}

/**
 * Where uploaded files are kept. Keys are made by the service, of letters, digits, `-`, `_`, `.` and `/`; a key that leads out of
 * the store throws.
 */
export interface FileStore {
  /** Keeps a file under the key, in place of what was there; durable when it resolves, and nothing is visible before. */
  put(key: string, source: { path: string } | Uint8Array): Promise<void>;
  /** Copies the content to a local file. Throws FileMissing. */
  fetch(key: string, path: string): Promise<void>;
  /** Removes the file; one that is not there is no error. */
  delete(key: string): Promise<void>;
}

/** Throws when the key could lead out of the store. */
export function checkKey(key: string): void {
  const sound = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(key) && key.length <= 500;
  if (!sound) throw new Error('A storage key has segments of letters, digits, hyphens, dots and underscores.');
}
