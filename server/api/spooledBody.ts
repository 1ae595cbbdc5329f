import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type ApiError, invalid } from '../../core/errors.ts';
import { makeTemporaryFolder } from '../../core/temporary.ts';

/** A client that sends nothing for so long is taken for gone, even if its connection is still open. */
const IDLE_MS = 30_000;

/** Where bodies are stored during a request, and how long the server waits for a silent client. */
export interface SpoolOptions {
  uploadDir: string;
  idleMs?: number;
}

/** A body that has arrived. */
export interface SpooledBody {
  /** The file that has it. */
  path: string;
  /** Removes the file. Never rejects: one that cannot be removed now is removed with the leftovers. */
  discard(): Promise<void>;
}

/**
 * Receives the body of a request to a file; its Content-Length is its limit. Throws VALIDATION_ERROR when it ends or stops before it is whole;
 * then nothing is left in the folder.
 */
export async function spoolBody(
  request: IncomingMessage,
  { uploadDir, idleMs = IDLE_MS }: SpoolOptions,
): Promise<SpooledBody> {
  const folder = await makeTemporaryFolder(uploadDir);
  const discard = () => rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  const path = join(folder, 'body');
  try {
    await receive(request, path, idleMs);
    return { path, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

async function receive(request: IncomingMessage, path: string, idleMs: number): Promise<void> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const refuse = (error: ApiError) => {
    request.unpipe(file);
    file.destroy();
    reject(error);
  };
  const lost = () => {
    if (!request.readableEnded) refuse(invalid('/body', 'ended before it was complete', 'parse'));
  };
  const seconds = Math.round(idleMs / 1000);
  const idle = setTimeout(
    () => refuse(invalid('/body', `stopped for ${seconds} seconds before it was complete`, 'parse')),
    idleMs,
  );
  const heard = () => idle.refresh();
  file.on('finish', resolve).on('error', reject);
  request.on('data', heard).on('error', lost).on('close', lost);
  request.pipe(file);
  // The client may have gone while its key was looked up; nothing would be emitted any more.
  if (request.destroyed) lost();
  try {
    await promise;
  } finally {
    clearTimeout(idle);
    request.off('data', heard).off('error', lost).off('close', lost);
    // The rest is read and dropped: many clients read no response before they have sent everything.
    request.resume();
  }
}
