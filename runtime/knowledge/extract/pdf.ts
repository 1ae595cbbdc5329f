import { type Block, MAX_TEXT_CHARS, tooMuchText, UnreadableFile } from './blocks.ts';
import { type Line, layOut } from './pdfLayout.ts';
import { composedLine } from './texText.ts';

const MAX_PAGES = 10_000;

const PASSWORD = 'The PDF is protected by a password. Remove the password and upload it again.';
const DAMAGED = 'The PDF is damaged or incomplete. Open it, save it again and upload that.';
const NO_TEXT = 'The PDF has no text, only pictures. Run text recognition (OCR) over it and upload the result.';

/** The used fields of a text item of pdf.js (getTextContent). */
interface TextItem {
  str: string;
  height: number;
  /** The last two are the position on the page, from the left and from the bottom. */
  transform: number[];
  hasEOL: boolean;
}

/** Reads a PDF page by page: paragraphs by the space between lines, headings by the size of the letters. */
export async function* readPdf(content: Uint8Array<ArrayBuffer>): AsyncGenerator<Block> {
  const { getDocumentProxy } = await import('unpdf');
  const pages: Line[][] = [];
  let chars = 0;
  try {
    const document = await getDocumentProxy(content, { verbosity: 0, stopAtErrors: false });
    if (document.numPages > MAX_PAGES) throw new UnreadableFile(`The PDF has more than ${MAX_PAGES} pages. Split it.`);
    for (let number = 1; number <= document.numPages; number += 1) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const lines = linesOf(items as TextItem[]);
      chars += lines.reduce((sum, { text }) => sum + text.length, 0);
      if (chars > MAX_TEXT_CHARS) throw tooMuchText();
      pages.push(lines);
      page.cleanup();
    }
  } catch (thrown) {
    throw unreadable(thrown);
  }
  if (!pages.flat().some(({ text }) => /[\p{L}\p{N}]/u.test(text))) {
    throw new UnreadableFile(NO_TEXT);
  }
  yield* layOut(pages);
}

function linesOf(items: readonly TextItem[]): Line[] {
  const lines: Line[] = [];
  let line: Line = { text: '', size: 0, y: 0 };
  const end = () => {
    if (line.text.trim() !== '') lines.push({ ...line, text: composedLine(line.text.trim()) });
    line = { text: '', size: 0, y: 0 };
  };
  for (const { str, height, transform, hasEOL } of items) {
    if (str.trim() !== '') {
      if (line.size === 0) line.y = transform[5] ?? 0;
      line.size = Math.max(line.size, height);
    }
    line.text += str;
    if (hasEOL) end();
  }
  end();
  return lines;
}

/** Errors of pdf.js have a name, but are not instances of Error. */
function unreadable(thrown: unknown): UnreadableFile {
  if (thrown instanceof UnreadableFile) return thrown;
  const cause = (thrown as { name?: unknown } | null)?.name;
  return new UnreadableFile(cause === 'PasswordException' ? PASSWORD : DAMAGED, { cause });
}
