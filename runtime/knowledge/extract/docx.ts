import { Parser } from 'htmlparser2';
import mammoth from 'mammoth';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { unescapeXml } from '../../../core/text.ts';
import { type Block, MAX_TEXT_CHARS, UnreadableFile } from './blocks.ts';

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

const BLOCK_TAG = /^(p|h[1-6]|li|ul|ol|tr|td|th|br)$/;
const LIST_TAG = /^(li|ul|ol)$/;
const TOKEN = /<(\/?)([a-z0-9]+)[^>]*>|([^<]+)/g;

/** Reads a Word document: headings by their styles, lists by item, tables by row. */
export async function* readDocx(content: Uint8Array<ArrayBuffer>): AsyncGenerator<Block> {
  await checkArchive(Buffer.from(content.buffer));
  let html: string;
  try {
    const result = await mammoth.convertToHtml(
      { buffer: Buffer.from(content.buffer) },
      {
        styleMap: ["p[style-name='Title'] => h1:fresh"],
        convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      },
    );
    html = result.value;
  } catch (cause) {
    throw new UnreadableFile(DAMAGED, { cause: nameOf(cause) });
  }
  yield* htmlBlocks(html);
}

/**
 * Checks the sizes that the archive declares, and how deep its parts nest. A false declaration is caught by the memory limit of the
 * process.
 */
async function checkArchive(archive: Buffer): Promise<void> {
  let unpacked = 0;
  let entries = 0;
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true });
    for await (const entry of zip.eachEntry()) {
      unpacked += entry.uncompressedSize;
      entries += 1;
      const parts = entry.fileName.startsWith('word/media/') ? MAX_UNPACKED : MAX_DOCUMENT_XML;
      if (unpacked > MAX_UNPACKED || entry.uncompressedSize > parts || entries > MAX_ENTRIES) {
        throw new UnreadableFile('The DOCX unpacks to far more than its size. Save its text as a new document.');
      }
      if (/\.(xml|rels)$/i.test(entry.fileName)) await checkNesting(zip, entry);
    }
  } catch (cause) {
    if (cause instanceof UnreadableFile) throw cause;
    throw new UnreadableFile(DAMAGED, { cause: nameOf(cause) });
  }
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

/** Blocks of the HTML that mammoth writes: well formed, few elements, no comments. */
function* htmlBlocks(html: string): Generator<Block> {
  let text = '';
  let row: string[] = [];
  /** Number of open tables. The content of a cell becomes one line. */
  let tables = 0;
  const take = () => {
    const taken = text.replace(/[^\S\n]+/g, ' ').trim();
    text = '';
    return taken;
  };
  for (const [, slash, tag = '', words] of html.matchAll(TOKEN)) {
    if (words !== undefined) {
      text += unescapeXml(words);
    } else if (tag === 'table' && slash === '') {
      tables += 1;
    } else if (tag === 'table') {
      tables -= 1;
    } else if (tables > 0) {
      const cellEnds = tables === 1 && slash !== '' && (tag === 'td' || tag === 'th');
      if (cellEnds) row.push(take().replaceAll('\n', ' '));
      else if (tables === 1 && slash !== '' && tag === 'tr') {
        yield { type: 'row', text: row.filter((cell) => cell !== '').join(' | ') };
        row = [];
      } else if (BLOCK_TAG.test(tag)) text += ' ';
    } else if (tag === 'br') {
      text += '\n';
    } else if (BLOCK_TAG.test(tag)) {
      const block = take();
      const level = /^h([1-6])$/.exec(tag)?.[1];
      if (block === '') continue;
      if (level !== undefined) yield { type: 'heading', level: Number(level), text: block.replaceAll('\n', ' ') };
      else if (LIST_TAG.test(tag)) yield { type: 'row', text: `- ${block}` };
      else yield { type: 'paragraph', text: block };
    }
  }
}

function nameOf(error: unknown): string | undefined {
  return Error.isError(error) ? error.name : undefined;
}
