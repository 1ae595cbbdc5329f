/** First bytes of an archive: of one with entries, an empty one, and one in several parts. */
const ZIP_STARTS = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'];

/** Whether a file begins like a ZIP archive. */
export function hasZipMagic(head: Buffer): boolean {
  return ZIP_STARTS.includes(head.toString('latin1', 0, 4));
}
