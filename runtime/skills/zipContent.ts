import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { badSkill, shown } from './refusal.ts';
import type { ZipEntry } from './zipDirectory.ts';

const CHUNK_BYTES = 65_536;

/**
 * Unpacks a file of an archive and passes its bytes to `take` in chunks; a chunk is valid until `take` returns. Stops at the first byte
 * beyond the size in the directory. Throws INVALID_SKILL_ZIP when size or checksum differ from the directory.
 */
export async function readZipEntry(path: string, entry: ZipEntry, take: (chunk: Buffer) => void): Promise<void> {
  const { name, offset, packedBytes, sizeBytes } = entry;
  let produced = 0;
  let checksum = 0;
  const consume = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      produced += chunk.length;
      if (produced > sizeBytes) throw badSkill(`${shown(name)} is larger than the archive says.`);
      checksum = crc32(chunk, checksum);
      take(chunk);
    }
  };
  const packed =
    packedBytes === 0
      ? Readable.from([])
      : createReadStream(path, { start: offset, end: offset + packedBytes - 1, highWaterMark: CHUNK_BYTES });
  try {
    if (entry.deflated) {
      const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES, rejectGarbageAfterEnd: true });
      await pipeline(packed, inflate, consume);
    } else {
      await pipeline(packed, consume);
    }
  } catch (error) {
    if (isZlibFailure(error)) throw badSkill(`${shown(name)} cannot be unpacked: the archive is damaged.`, error);
    throw error;
  }
  if (produced < sizeBytes) throw badSkill(`${shown(name)} is smaller than the archive says.`);
  if (checksum !== entry.crc32) throw badSkill(`${shown(name)} is not what was packed: its checksum differs.`);
}

function isZlibFailure(error: unknown): boolean {
  const code = Error.isError(error) && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END';
}
