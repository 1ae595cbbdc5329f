import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

/**
 * Reads an archive for yauzl. yauzl's own reader (3.4.0) throws outside of every promise and callback when an archive
 * names an offset beyond 2^53: 86 bytes would end the process. This one reports offsets outside of the file as errors.
 */
class ArchiveReader extends RandomAccessReader {
  readonly #file: FileHandle;
  readonly #size: number;

  constructor(file: FileHandle, size: number) {
    super();
    this.#file = file;
    this.#size = size;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    if (!(position >= 0 && position + length <= this.#size)) {
      setImmediate(callback, new Error('beyond the end of the archive'));
      return;
    }
    this.#file.read(buffer, offset, length, position).then(
      ({ bytesRead }) => callback(null, bytesRead),
      (error) => callback(error),
    );
  }

  /** The bytes from `start` up to, not including, `end`. */
  override _readStreamForRange(start: number, end: number): Readable {
    const inside = end <= this.#size && start < end;
    return inside
      ? this.#file.createReadStream({ start, end: end - 1, autoClose: false })
      : Readable.from([], { objectMode: false });
  }

  override close(callback: (error: Error | null) => void): void {
    this.#file.close().then(() => callback(null), callback);
  }
}

/**
 * Opens an uploaded ZIP archive. Nothing else in this process may open one. `close` of the result closes the file too. Rejects when
 * the file is no archive, or damaged.
 */
export async function openArchive(path: string, options: { decodeStrings: boolean }): Promise<ZipFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return await fromRandomAccessReaderPromise(new ArchiveReader(file, size), size, { autoClose: false, ...options });
  } catch (error) {
    await file.close();
    throw error;
  }
}
