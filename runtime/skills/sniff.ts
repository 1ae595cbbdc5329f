import { hasZipMagic } from '../files/zipMagic.ts';

const LOCAL_HEADER = 'PK\x03\x04';
const OTHER_ARCHIVES = ['7z\xbc\xaf\x27\x1c', 'Rar!\x1a\x07'];
/** First entries of Office Open XML, OpenDocument and EPUB files, which are ZIP archives inside. */
const DOCUMENT_ENTRY = /^(\[Content_Types\]\.xml|_rels\/|docProps\/|word\/|xl\/|ppt\/|mimetype)/;
const NAME_OFFSET = 30;

/**
 * Whether a file of a skill is itself an archive, whose files no check would see. Documents in a ZIP container (Office Open XML,
 * OpenDocument, EPUB) do not count: many skills contain such templates. Single compressed files (gzip) do not count either.
 */
export function isArchive(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 6);
  if (OTHER_ARCHIVES.includes(start)) return true;
  if (!hasZipMagic(head)) return false;
  const isDocument = start.startsWith(LOCAL_HEADER) && DOCUMENT_ENTRY.test(head.toString('latin1', NAME_OFFSET, 64));
  return !isDocument;
}

/** Checks chunk by chunk whether a file is text: UTF-8 without NUL. */
export class TextCheck {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #binary = false;

  add(chunk: Buffer): void {
    this.#binary ||= chunk.includes(0) || !this.#decodes(chunk);
  }

  /** Ends the file. Returns whether it is not text. */
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
