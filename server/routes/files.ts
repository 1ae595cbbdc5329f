import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import { FileMissing, type FileStore } from '../../integrations/storage/storage.ts';
import { type PublicFile, publicFile } from '../../runtime/files/publicFiles.ts';

/** The stores that public files are read from; a Runtime has them. */
export interface FileParts {
  files: FileStore;
  temporaryDir: string;
}

/** A copy that requests are answered from, for as long as there are any. */
interface Copy {
  folder: Promise<string>;
  users: number;
  since: number;
}

const NAME = 'file';
/** Milliseconds for which new readers share a copy. Folders that are an hour old are removed as leftovers (core/temporary.ts). */
const SHARED_MS = 600_000;
const RANGE_NOT_SATISFIABLE = 416;

/**
 * Answers `GET` and `HEAD` of `/files/<key>` for the keys that runtime/files/publicFiles.ts lists; passes everything else on, to the 404.
 * Parts of a file (`Range`) and comparisons (`If-None-Match`) are supported as HTTP defines them.
 */
export function publicFiles({ files, temporaryDir }: FileParts): RequestHandler {
  const copies = new Map<string, Copy>();

  /** Readers of one file share a copy of it: players ask for many parts, and some read slowly. */
  function copyOf(key: string): Copy {
    const now = performance.now();
    const known = copies.get(key);
    const copy = known && now - known.since < SHARED_MS ? known : { folder: fetchCopy(key), users: 0, since: now };
    copies.set(key, copy);
    copy.users += 1;
    return copy;
  }

  async function fetchCopy(key: string): Promise<string> {
    const folder = await makeTemporaryFolder(temporaryDir);
    try {
      await files.fetch(key, join(folder, NAME));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return folder;
  }

  function release(key: string, copy: Copy): void {
    copy.users -= 1;
    if (copy.users > 0) return;
    if (copies.get(key) === copy) copies.delete(key);
    copy.folder.then((folder) => rm(folder, { recursive: true, force: true })).catch(() => {});
  }

  return async (request: Request, response: Response, next: NextFunction) => {
    // Not decoded, so that an encoded slash or dot has no meaning.
    const key = request.path.slice(1);
    const file = request.method === 'GET' || request.method === 'HEAD' ? publicFile(key) : undefined;
    if (!file) return next();
    const copy = copyOf(key);
    try {
      const root = await copy.folder;
      await send(response, root, { ...file, etag: key.replaceAll(/[^A-Za-z0-9]/g, '') });
    } catch (error) {
      next(error instanceof FileMissing ? undefined : error);
    } finally {
      release(key, copy);
    }
  };
}

/** As Express tells why a file was not sent. */
interface SendFailure {
  status?: number;
  code?: string;
  headers?: Record<string, string>;
}

/** Sends the file, and resolves when it has left or the client has. */
async function send(
  response: Response,
  root: string,
  { mediaType, filename, disposition, cache, etag }: PublicFile & { etag: string },
): Promise<void> {
  const headers = {
    'Content-Type': mediaType,
    'Content-Disposition': `${disposition}; filename="${filename}"`,
    // In a sandbox nothing runs, and the document is of no origin. Styles are a part of how an SVG looks.
    'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
    // A key is used once.
    'Cache-Control': `${cache}, max-age=31536000, immutable`,
    ETag: `"${etag}"`,
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const failure = await new Promise<unknown>((resolve) => {
    const options = { root, cacheControl: false, etag: false, lastModified: false, dotfiles: 'allow' as const };
    response.sendFile(NAME, options, resolve);
  });
  const { status, code, headers: own = {} } = (failure ?? {}) as SendFailure;
  // The client has the file, or is gone.
  if (failure === undefined || response.destroyed || code === 'ECONNABORTED') return;
  if (status === RANGE_NOT_SATISFIABLE) {
    response.status(status).set(own).end();
    return;
  }
  if (!response.headersSent) for (const name of Object.keys(headers)) response.removeHeader(name);
  throw failure;
}
