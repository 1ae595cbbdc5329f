const LOCAL_HEADER = 'PK\x03\x04';
/** Starts of an archive: its first entry, the end of an empty one, a part of one in several. */
const ZIP_STARTS = [LOCAL_HEADER, 'PK\x05\x06', 'PK\x07\x08'];
const OTHER_ARCHIVES = ['7z\xbc\xaf\x27\x1c', 'Rar!\x1a\x07'];
/** First entries of Office Open XML, OpenDocument and EPUB files, which are ZIP archives inside. */
const DOCUMENT_ENTRY = /^(\[Content_Types\]\.xml|_rels\/|docProps\/|word\/|xl\/|ppt\/|mimetype)/;
const NAME_OFFSET = 30;

/** Whether a file begins as a ZIP archive does. */
export function hasZipMagic(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 4);
  return ZIP_STARTS.includes(start);
}

/**
 * Whether a file of a skill is an archive of files, which would escape every check of the skill. Documents that are ZIP archives inside
 * are none: templates of them are what many skills are about. Single files that are packed (gzip and such) are none either.
 */
export function isArchive(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 6);
  if (OTHER_ARCHIVES.includes(start)) return true;
  if (!hasZipMagic(head)) return false;
  const isDocument = start.startsWith(LOCAL_HEADER) && DOCUMENT_ENTRY.test(head.toString('latin1', NAME_OFFSET, 64));
  return !isDocument;
}

/** Tells text from other files, piece by piece: text is UTF-8 without NUL. */
export class TextCheck {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #binary = false;

  add(chunk: Buffer): void {
    this.#binary ||= chunk.includes(0) || !this.#decodes(chunk);
  }

  /** Whether all that was added is something other than text. */
  end(): boolean {
    return this.#binary || !this.#decodes();
  }

  #decodes(chunk?: Buffer): boolean {
    try {
      this.#decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  }
}
