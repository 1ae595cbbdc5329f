import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Zip knows no time before 1980. Every entry has the same, so that equal folders give equal archives. */
const MTIME = new Date(1980, 0, 1);

/** An archive of files by their paths with `/`. Equal files give equal bytes in one time zone. */
export async function archiveOf(files: Readonly<Record<string, Uint8Array>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const path of Object.keys(files).sort()) {
    const content = files[path];
    if (content) zip.addBuffer(Buffer.from(content), path, { mtime: MTIME, mode: 0o100644, forceDosTimestamp: true });
  }
  zip.end();
  return buffer(zip.outputStream);
}
