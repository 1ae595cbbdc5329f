import { analyse } from 'chardet';
import { UnreadableFile } from './blocks.ts';

/** How much of a file is used to detect its encoding. */
const SAMPLE_BYTES = 256 * 1024;
/** Of 100, by chardet. Random bytes stay below 20 or cannot be decoded; short words in Western European reach 30. */
const MIN_CONFIDENCE = 20;

/**
 * Decodes a file: UTF-8, UTF-16 with a byte order mark, or an older encoding that can be detected. Throws UnreadableFile when none can.
 */
export function decodeText(bytes: Uint8Array): string {
  const text = decoded(bytes);
  // UTF-16 without a mark and UTF-32 decode to text with many NULs.
  if (text === undefined || text.includes('\0')) {
    throw new UnreadableFile('The encoding of the text cannot be told. Save it as UTF-8 and upload it again.');
  }
  return text;
}

function decoded(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeAs('utf-16le', bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeAs('utf-16be', bytes);
  return decodeAs('utf-8', bytes) ?? decodeGuessed(bytes);
}

function decodeGuessed(bytes: Uint8Array): string | undefined {
  // Starts at the first byte that is not ASCII, because all encodings are the same before it.
  const first = bytes.findIndex((byte) => byte >= 0x80 || byte === 0x1b);
  const start = Math.max(0, first - 1024);
  for (const { name, confidence } of analyse(bytes.subarray(start, start + SAMPLE_BYTES))) {
    const text = confidence < MIN_CONFIDENCE ? undefined : decodeAs(name, bytes);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns undefined when the bytes are invalid in the encoding, or the encoding is not supported. */
function decodeAs(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
