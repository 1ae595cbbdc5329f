import {
  extensionOf,
  FILE_KINDS,
  type FileKind,
  isDeclared,
  namesOf,
  plainType,
  type SourceKind,
} from '../files/fileKinds.ts';
import { readHead } from '../files/readHead.ts';
import { hasZipMagic } from '../files/zipMagic.ts';

/** Returns the storage key of a source's content. */
export function sourceKey(workspaceId: string, sourceId: string): string {
  return `${workspaceId}/knowledge/${sourceId}`;
}

/** What the sender claims about a file. The bytes overrule both. */
export interface SourceHints {
  filename: string;
  /** Media type of the part of the form. */
  declared: string;
}

/** Enough to detect text. The rest is checked when the file is read. */
const HEAD_BYTES = 64 * 1024;
/** PDF readers accept the header anywhere before this offset (PDF 32000-1, implementation note 13). */
const MAX_PDF_HEADER_OFFSET = 1024;
/** The part of a DOCX that declares its type; usually a few KB. */
const CONTENT_TYPES = '[Content_Types].xml';
const MAX_CONTENT_TYPES_BYTES = 1024 * 1024;
const DOCX_MAIN_PART = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const MAX_DOCX_ENTRIES = 10_000;

type SourceFileKind = FileKind & { source: SourceKind };
const KINDS = FILE_KINDS.filter((kind): kind is SourceFileKind => kind.source !== null);
const BY_SOURCE = new Map(KINDS.map((kind) => [kind.source, kind]));
const ACCEPTED = `Send ${namesOf(KINDS)}.`;

/** A file that is no knowledge source. The message is the end of a sentence about it. */
export class UnacceptedFile extends Error {}

/**
 * Detects the kind of an uploaded file by its bytes. Text has no magic number: a file without control characters is text, of the kind
 * that its name or else its declared type says. Throws UnacceptedFile.
 */
export async function sourceKind(path: string, { filename, declared }: SourceHints): Promise<SourceKind> {
  const head = await readHead(path, HEAD_BYTES);
  const extension = extensionOf(filename);
  const named = extension === undefined ? undefined : KINDS.find(({ extensions }) => extensions.includes(extension));
  const found = await kindByBytes(path, head);
  if (found === undefined) throw new UnacceptedFile(await refusal(head, named));
  if (named && !fits(named.source, found, head)) throw new UnacceptedFile(mismatch(named, BY_SOURCE.get(found)?.name));
  if (found !== 'text') return found;
  if (named) return named.source;
  const type = plainType(declared);
  const byType = KINDS.find(({ mediaType }) => mediaType.startsWith('text/') && mediaType === type);
  const kind = byType?.source ?? (extension === undefined && !isDeclared(declared) ? 'text' : undefined);
  if (kind === undefined) throw new UnacceptedFile(`is of no kind that is accepted. ${ACCEPTED}`);
  return kind;
}

/** Whether the content can be what the name says. An empty file fits every name; the reader reports that it is empty. */
function fits(named: SourceKind, found: 'pdf' | 'docx' | 'text', head: Buffer): boolean {
  if (head.length === 0) return true;
  return found === 'text' ? named !== 'pdf' && named !== 'docx' : named === found;
}

function mismatch(named: FileKind, content = 'something else'): string {
  return `is named as ${named.name}, but its content is ${content}.`;
}

async function kindByBytes(path: string, head: Buffer): Promise<'pdf' | 'docx' | 'text' | undefined> {
  if (isPdf(head)) return 'pdf';
  if (hasZipMagic(head)) return (await isDocx(path)) ? 'docx' : undefined;
  if (head.subarray(0, 5).equals(Buffer.from('{\\rtf'))) return undefined;
  return isText(head) ? 'text' : undefined;
}

function isPdf(head: Buffer): boolean {
  const at = head.subarray(0, MAX_PDF_HEADER_OFFSET).indexOf('%PDF-');
  // At a later offset it may be a text about PDF.
  return at === 0 || (at > 0 && (head.subarray(0, at).toString('latin1').trim() === '' || !isText(head)));
}

function isText(head: Buffer): boolean {
  const utf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  // Text may contain tab, line breaks, form feed, ESC (ISO-2022-JP) and the end mark of old systems.
  const control = (byte: number) => byte === 0x7f || (byte < 0x20 && !TEXT_CONTROLS.has(byte));
  return utf16 || !head.some(control);
}
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1a, 0x1b]);

/** Whether the archive declares that it is a Word document. Unpacks only that part. */
async function isDocx(path: string): Promise<boolean> {
  // Loaded at the first archive, to keep it out of an idle service.
  const { openArchive } = await import('../files/archive.ts');
  try {
    const zip = await openArchive(path, { decodeStrings: true });
    try {
      let seen = 0;
      for await (const entry of zip.eachEntry()) {
        seen += 1;
        if (seen > MAX_DOCX_ENTRIES) return false;
        if (entry.fileName !== CONTENT_TYPES) continue;
        if (entry.uncompressedSize > MAX_CONTENT_TYPES_BYTES) return false;
        // yauzl fails the stream when there is more data than the entry declares.
        const chunks: Buffer[] = [];
        for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).includes(DOCX_MAIN_PART);
      }
      return false;
    } finally {
      zip.close();
    }
  } catch {
    return false; // a broken archive
  }
}

async function refusal(head: Buffer, named: FileKind | undefined): Promise<string> {
  if (head.subarray(0, 4).toString('hex') === 'd0cf11e0') {
    return 'is an old Word document or one with a password. Save it as DOCX without a password.';
  }
  const type = head.subarray(0, 2).toString() === 'PK' ? 'application/zip' : await mediaTypeOf(head);
  if (named) return mismatch(named, type);
  return `is ${type ?? 'of no known type'}, which is not accepted. ${ACCEPTED}`;
}

/** For the message only. Archives are not passed to the library, because it would unpack parts of them. */
async function mediaTypeOf(head: Buffer): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(head))?.mime;
}
