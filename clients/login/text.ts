import { open } from 'node:fs/promises';

/** A file that a person wrote, decoded: UTF-8, or UTF-16 as PowerShell writes it, without a byte order mark. */
export function decodedText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

/**
 * The text of a file of at most `maxBytes`; undefined when it has more. Reads no further, so that a device or a pipe without end is no
 * trap.
 */
export async function readSmallText(file: string, maxBytes: number): Promise<string | undefined> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
      length += bytesRead;
      if (length > maxBytes) return undefined;
      if (bytesRead === 0) return decodedText(bytes.subarray(0, length));
    }
  } finally {
    await handle.close();
  }
}
