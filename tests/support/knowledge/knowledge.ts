import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow } from 'docx';
import PDFDocument from 'pdfkit';
import { ZipFile } from 'yazl';
import type { components } from '../../../generated/api.ts';
import type { SourceKind } from '../../../runtime/files/fileKinds.ts';
import { type ExtractLimits, extractPassages } from '../../../runtime/knowledge/extract.ts';
import type { Passage } from '../../../runtime/knowledge/passages.ts';
import type { TestApp } from '../http/app.ts';
import { poll } from '../poll.ts';

type Source = components['schemas']['KnowledgeSource'];

/** Processing is a matter of a second; a busy machine takes longer. */

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A page of a PDF: what is written on it, large letters for headings. */
export interface PdfPage {
  heading?: string;
  paragraphs?: string[];
  footer?: string;
  picture?: boolean;
}

/** A PDF with these pages. */
export function makePdf(pages: readonly PdfPage[], options: PDFKit.PDFDocumentOptions = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const document = new PDFDocument({ autoFirstPage: false, ...options });
    const chunks: Buffer[] = [];
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => resolve(Buffer.concat(chunks)));
    document.on('error', reject);
    for (const { heading, paragraphs = [], footer, picture } of pages) {
      document.addPage();
      if (heading) document.fontSize(20).text(heading).moveDown();
      for (const paragraph of paragraphs) document.fontSize(11).text(paragraph).moveDown();
      if (picture) document.image(PIXEL, { width: 200 });
      if (footer) document.fontSize(8).text(footer, 72, 740, { lineBreak: false });
    }
    document.end();
  });
}

/** A book of so many pages of some 350 words; page n has the word `marker<n>`. */
export function makeBook(pages: number): Promise<Buffer> {
  const words = 'refunds deliveries parcels customers orders receipts invoices warehouses couriers promise'.split(' ');
  const sentence = (seed: number) =>
    `${Array.from({ length: 14 }, (_, i) => words[(seed * 7 + i * 3 + ((seed >> 3) % 5)) % words.length]).join(' ')}.`;
  return makePdf(
    Array.from({ length: pages }, (_, page) => ({
      heading: `Chapter ${page + 1}`,
      paragraphs: Array.from({ length: 5 }, (_, paragraph) =>
        [
          `marker${page + 1} opens here.`,
          ...Array.from({ length: 5 }, (_, i) => sentence(page * 31 + paragraph * 5 + i)),
        ]
          .slice(paragraph === 0 ? 0 : 1)
          .join(' '),
      ),
      footer: `Page ${page + 1} of ${pages}`,
    })),
  );
}

/** A Word document with a title, headings, a list and a table. */
export async function makeDocx(): Promise<Buffer> {
  const row = (...cells: string[]) =>
    new TableRow({ children: cells.map((cell) => new TableCell({ children: [new Paragraph(cell)] })) });
  const document = new Document({
    sections: [
      {
        children: [
          new Paragraph({ text: 'Handbook', heading: HeadingLevel.TITLE }),
          new Paragraph('Welcome to Smith & Sons <Ltd>.'),
          new Paragraph({ text: 'Shipping', heading: HeadingLevel.HEADING_1 }),
          new Paragraph('We ship on weekdays.'),
          new Paragraph({ text: 'Abroad', heading: HeadingLevel.HEADING_2 }),
          new Paragraph({ text: 'By air', bullet: { level: 0 } }),
          new Paragraph({ text: 'By sea', bullet: { level: 0 } }),
          new Table({ rows: [row('Country', 'Days'), row('Austria', '2'), row('Brazil', '9')] }),
          new Paragraph('Duties are yours.'),
        ],
      },
    ],
  });
  return Packer.toBuffer(document);
}

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const MATH = 'http://schemas.openxmlformats.org/officeDocument/2006/math';
const CONTENT_TYPES = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const RELATIONSHIPS = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

/** An archive of these entries. */
export async function makeZip(entries: Record<string, Buffer | string>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(entries)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A Word document of these paragraphs and tables in XML, and of more parts of the archive. */
export function makeWordXml(body: string, parts: Record<string, string> = {}): Promise<Buffer> {
  return makeZip({
    '[Content_Types].xml': CONTENT_TYPES,
    '_rels/.rels': RELATIONSHIPS,
    'word/document.xml': `<w:document xmlns:w="${WORD}" xmlns:m="${MATH}"><w:body>${body}</w:body></w:document>`,
    ...Object.fromEntries(
      Object.entries(parts).map(([name, content]) => [
        `word/${name}.xml`,
        `<w:${name} xmlns:w="${WORD}">${content}</w:${name}>`,
      ]),
    ),
  });
}

/** A Word document of a few KB with so many tables within each other, and so many empty paragraphs in the innermost one. */
export function makeNestedDocx(tables: number, paragraphs: number): Promise<Buffer> {
  const text = '<w:p><w:r><w:t>In the middle.</w:t></w:r></w:p>';
  // A paragraph beside the rows makes mammoth search the whole table.
  const begin = '<w:tbl><w:p/><w:tr><w:tc>'.repeat(tables);
  const nested = `${begin}${text}${'<w:p/>'.repeat(paragraphs)}${'</w:tc></w:tr></w:tbl>'.repeat(tables)}`;
  return makeWordXml(nested);
}

/**
 * A Word document that unpacks to so many megabytes of one text. With `lies` it says that it is small: its sizes are in the
 * central directory, where readers look first.
 */
export async function makeDocxBomb(megabytes: number, lies = false): Promise<Buffer> {
  const head =
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>';
  const body = Buffer.alloc(megabytes * 1024 * 1024, 'boom ');
  const document = Buffer.concat([Buffer.from(head), body, Buffer.from('</w:t></w:r></w:p></w:body></w:document>')]);
  const bomb = await makeZip({
    '[Content_Types].xml': CONTENT_TYPES,
    '_rels/.rels': RELATIONSHIPS,
    'word/document.xml': document,
  });
  if (!lies) return bomb;
  const size = Buffer.alloc(4);
  size.writeUInt32LE(document.length);
  for (let at = bomb.indexOf(size); at >= 0; at = bomb.indexOf(size, at + 1)) bomb.writeUInt32LE(1000, at);
  return bomb;
}

/** What is read from a content of this kind. */
export async function extract(
  content: Buffer | string,
  kind: SourceKind,
  options: { signal?: AbortSignal; limits?: ExtractLimits } = {},
): Promise<Passage[]> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-extract-'));
  try {
    await writeFile(join(folder, 'source'), content);
    return await extractPassages(join(folder, 'source'), kind, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Stores a text. `fields` in place of the usual ones. */
export async function makeSource(
  app: TestApp,
  fields: Partial<components['schemas']['KnowledgeSourceTextCreate']> = {},
  key?: string,
): Promise<Source> {
  const body = { name: 'Refund policy', textContent: 'Orders can be sent back within 30 days.', ...fields };
  const created = await app.api('post', '/knowledge-sources', key).send(body);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** A request that uploads a file. `metadata` is sent as a JSON part. */
export function upload(
  app: TestApp,
  content: Buffer | string,
  filename: string,
  metadata?: object,
  contentType?: string,
) {
  const request = app.api('post', '/knowledge-sources');
  if (metadata !== undefined) {
    void request.field('metadata', JSON.stringify(metadata), { contentType: 'application/json' });
  }
  return request.attach('file', Buffer.from(content), contentType === undefined ? filename : { filename, contentType });
}

/** Uploads a file that is accepted. */
export async function uploadSource(app: TestApp, content: Buffer | string, filename: string): Promise<Source> {
  const created = await upload(app, content, filename);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** The source as the API shows it now. */
export async function readSource(app: TestApp, id: string, key?: string): Promise<Source> {
  const { status, text, body } = await app.api('get', `/knowledge-sources/${id}`, key);
  if (status !== 200) throw new Error(text);
  return body;
}

/** The source once its processing has ended, well or badly; the application must run jobs. */
export function processed(app: TestApp, id: string): Promise<Source> {
  return poll(
    () => readSource(app, id),
    ({ processingStatus }) => processingStatus === 'COMPLETED' || processingStatus === 'FAILED',
  );
}

/** A process that reads a file. */
export interface Reader {
  pid: string;
  parent: string;
  /** The file. */
  path: string;
  environment: string;
}

/** Processes that read files, whoever started them, by what Linux tells of them. */
export async function readers(): Promise<Reader[]> {
  const found: Reader[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    try {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      if (!command.includes('extract/child.ts')) continue;
      const parent = /^PPid:\s*(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      found.push({ pid, parent, path: command.split('\0').at(-2) ?? '', environment });
    } catch {
      // It has ended.
    }
  }
  return found;
}

/** As `readers`, of those that this process started. */
export async function ownReaders(): Promise<Reader[]> {
  return (await readers()).filter(({ parent }) => parent === String(process.pid));
}
