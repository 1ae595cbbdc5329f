import { Parser } from 'htmlparser2';
import mammoth from 'mammoth';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { type Block, MAX_TEXT_CHARS, UnreadableFile } from './blocks.ts';
import { htmlBlocks } from './docxHtml.ts';
import { mendedXml, paragraphStyles } from './docxXml.ts';

/** Maximum unpacked size of a document, with its pictures. */
const MAX_UNPACKED = 300 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
/** XML is several times as large as its text. */
const MAX_DOCUMENT_XML = 6 * MAX_TEXT_CHARS;

/** Elements within each other, and tables. mammoth reads all that is in a table once for each table around it, and by recursion. */
const MAX_NESTING = 100;
const MAX_NESTED_TABLES = 10;

const TOO_NESTED =
  'The DOCX has tables or other parts that nest too deeply. Take them out of each other, or upload its text as a PDF.';
const DAMAGED = 'The DOCX is damaged. Open it in a word processor, save it again and upload that.';

/** The parts that have the text. */
const TEXT_PARTS = /^word\/(?:document|footnotes|endnotes)\d*\.xml$/i;
const STYLES = 'word/styles.xml';

/** Reads a Word document: headings by their styles, lists by item, tables by row, notes below the paragraph that they belong to. */
export async function* readDocx(content: Uint8Array<ArrayBuffer>): AsyncGenerator<Block> {
  const parts = await checkedArchive(Buffer.from(content.buffer));
  let html: string;
  try {
    const styles = paragraphStyles(parts.has(STYLES) ? (await contentOf(parts, STYLES)).toString() : '');
    const file = {
      exists: (name: string) => parts.has(name),
      read: async (name: string, encoding?: string): Promise<Uint8Array | string> => {
        const part = await contentOf(parts, name);
        if (!encoding) return part;
        const text = encoding === 'base64' ? part.toString('base64') : new TextDecoder(encoding).decode(part);
        return TEXT_PARTS.test(name) ? mendedXml(text, styles) : text;
      },
    };
    // Its types leave out this way to give it a document.
    const result = await mammoth.convertToHtml({ file } as unknown as Parameters<typeof mammoth.convertToHtml>[0], {
      styleMap: ["p[style-name='Title'] => h1:fresh", "br[type='page'] => br", "br[type='column'] => br"],
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
    });
    html = result.value;
  } catch (cause) {
    throw new UnreadableFile(DAMAGED, { cause: nameOf(cause) });
  }
  yield* htmlBlocks(html);
}

/** The files of an archive, by their names. */
type Parts = ReadonlyMap<string, { zip: ZipFile; entry: Entry }>;

/** An archive's files, once the sizes that it declares are checked, and how deep its parts nest. A file that is larger than it says cannot be read. */
async function checkedArchive(archive: Buffer): Promise<Parts> {
  const parts = new Map<string, { zip: ZipFile; entry: Entry }>();
  let unpacked = 0;
  let entries = 0;
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true, autoClose: false });
    for await (const entry of zip.eachEntry()) {
      unpacked += entry.uncompressedSize;
      entries += 1;
      const most = entry.fileName.startsWith('word/media/') ? MAX_UNPACKED : MAX_DOCUMENT_XML;
      if (unpacked > MAX_UNPACKED || entry.uncompressedSize > most || entries > MAX_ENTRIES) {
        throw new UnreadableFile('The DOCX unpacks to far more than its size. Save its text as a new document.');
      }
      parts.set(entry.fileName, { zip, entry });
      if (/\.(xml|rels)$/i.test(entry.fileName)) await checkNesting(zip, entry);
    }
  } catch (cause) {
    if (cause instanceof UnreadableFile) throw cause;
    throw new UnreadableFile(DAMAGED, { cause: nameOf(cause) });
  }
  return parts;
}

async function contentOf(parts: Parts, name: string): Promise<Buffer> {
  const part = parts.get(name);
  if (!part) throw new Error(`The archive has no ${name}.`);
  const chunks: Buffer[] = [];
  for await (const chunk of await part.zip.openReadStreamPromise(part.entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function checkNesting(zip: ZipFile, entry: Entry): Promise<void> {
  let nesting = 0;
  let tables = 0;
  let isTooNested = false;
  const parser = new Parser(
    {
      onopentagname(name) {
        nesting += 1;
        if (isTable(name)) tables += 1;
        isTooNested ||= nesting > MAX_NESTING || tables > MAX_NESTED_TABLES;
      },
      onclosetag(name) {
        nesting -= 1;
        if (isTable(name)) tables -= 1;
      },
    },
    { xmlMode: true },
  );
  const content = await zip.openReadStreamPromise(entry);
  for await (const chunk of content) {
    parser.write(chunk.toString('latin1'));
    if (isTooNested) throw new UnreadableFile(TOO_NESTED);
  }
}

/** Whatever the prefix of WordprocessingML is. */
const isTable = (name: string): boolean => name === 'tbl' || name.endsWith(':tbl');

function nameOf(error: unknown): string | undefined {
  return Error.isError(error) ? error.name : undefined;
}
