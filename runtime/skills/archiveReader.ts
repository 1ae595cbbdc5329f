import { type FileHandle, open } from 'node:fs/promises';
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

/**
 * Reads an archive for yauzl. Its own reader lets `fs.read` throw when an archive names a place beyond 2^53 (yauzl 3.4.0), outside of
 * every promise and callback: 86 bytes would end the process. This one answers what lies outside of the file with an error.
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

  override close(callback: (error: Error | null) => void): void {
    this.#file.close().then(() => callback(null), callback);
  }
}

/** Opens the archive at `path`; `close` of what it answers with closes the file too. Rejects when it is none, or damaged. */
export async function openArchive(path: string): Promise<ZipFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const reader = new ArchiveReader(file, size);
    return await fromRandomAccessReaderPromise(reader, size, { autoClose: false, decodeStrings: false });
  } catch (error) {
    await file.close();
    throw error;
  }
}
