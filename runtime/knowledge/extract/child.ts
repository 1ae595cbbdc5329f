/*
 * The process that reads one file: `child.ts <kind> <path>`. Its output is described in extractLine.ts. Parsers read
 * untrusted uploads, so they run here, where the parent can kill them and where no secrets are in the environment.
 */
import { readFile } from 'node:fs/promises';
import type { SourceKind } from '../../files/fileKinds.ts';
import { splitBlocks } from '../split.ts';
import { type Block, type BlockReader, MAX_TEXT_CHARS, tooMuchText, UnreadableFile } from './blocks.ts';
import type { ExtractLine } from './extractLine.ts';

/** Parsers are loaded on demand, because most are large. */
const READERS: Readonly<Record<SourceKind, () => Promise<BlockReader>>> = {
  pdf: async () => (await import('./pdf.ts')).readPdf,
  docx: async () => (await import('./docx.ts')).readDocx,
  csv: async () => (await import('./csv.ts')).readCsv,
  markdown: async () => (await import('./markdown.ts')).readMarkdown,
  text: async () => (await import('./text.ts')).readText,
};

// The output is for ExtractLine only. Warnings of parsers go to stderr.
console.log = console.info = console.warn = console.error;
// The parent holds the other end, so this process ends when the parent is killed.
process.stdin.on('end', () => process.exit(1)).resume();

/** Resolves when the line is written, because a process that exits loses buffered output. */
function write(line: ExtractLine): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${JSON.stringify(line)}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

async function* limited(blocks: AsyncIterable<Block> | Iterable<Block>): AsyncGenerator<Block> {
  let chars = 0;
  for await (const block of blocks) {
    chars += block.text.length;
    if (chars > MAX_TEXT_CHARS) throw tooMuchText();
    yield block;
  }
}

async function main(kind: SourceKind, path: string): Promise<void> {
  const content = new Uint8Array(await readFile(path));
  if (content.length === 0) throw new UnreadableFile('The file is empty. Upload it again with its content.');
  const read = await READERS[kind]();
  let count = 0;
  for await (const passage of splitBlocks(limited(read(content)))) {
    await write({ passage });
    count += 1;
  }
  if (count === 0) throw new UnreadableFile('There is no text in it. Upload a file that has some.');
  await write({ end: count });
}

const [, , kind, path = ''] = process.argv;
try {
  await main(kind as SourceKind, path);
} catch (error) {
  if (!(error instanceof UnreadableFile)) {
    // A fault of the service, not of the file.
    process.stderr.write(Error.isError(error) ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  }
  await write({ unreadable: error.message, cause: typeof error.cause === 'string' ? error.cause : null });
}
process.exit(0);
