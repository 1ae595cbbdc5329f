import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../../../core/ids.ts';
import { adminQuery } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeDocx, makePdf, makeZip, PIXEL, readSource, upload } from '../../support/knowledge/knowledge.ts';
import { rawZip } from '../../support/tools/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const create = (body: object) => app.api('post', '/knowledge-sources').send(body);
const total = async () => (await app.api('get', '/knowledge-sources')).body.total;
const folder = () => join(app.dataDir, 'files', app.workspace.workspaceId, 'knowledge');
const stored = (id: string) => readFile(join(folder(), id));
const storedFiles = () => readdir(folder()).catch(() => []);
const kindOf = async (id: string) => {
  const query = app.workspace.db.selectFrom('knowledge_sources').select('file_kind').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).file_kind;
};

/** The request is refused with this status and code, and leaves neither row nor file. */
async function expectRefused(
  request: PromiseLike<{ status: number; body: { code: string } }>,
  status: number,
  code: string,
) {
  const before = [await total(), await storedFiles()];
  const answer = await request;
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect([await total(), await storedFiles()]).toEqual(before);
  return answer;
}

describe('201', () => {
  test('a text waits to be processed, and is kept as it came', async () => {
    const textContent = 'Orders can be sent back within 30 days – “whole”.\r\n';
    const { status, body } = await create({ name: 'Refunds', description: 'About money.', textContent });
    expect(status).toBe(201);
    const now = app.clock.now().toISOString();
    expect(body).toEqual({
      publicId: expect.any(String),
      name: 'Refunds',
      description: 'About money.',
      sourceType: 'TEXT_INPUT',
      processingStatus: 'PENDING',
      errorMessage: null,
      lastProcessedAt: null,
      createdAt: now,
      updatedAt: now,
    });
    expect(isUuid(body.publicId)).toBe(true);
    expect((await stored(body.publicId)).toString()).toBe(textContent);
    expect(await readSource(app, body.publicId)).toEqual(body);
  });

  test('description and sourceType may be left out, and a description may be null', async () => {
    expect((await create({ name: 'A', textContent: 'a' })).body.description).toBeNull();
    for (const sourceType of ['text_input', 'TEXT_INPUT']) {
      const { status, body } = await create({ name: 'A', description: null, sourceType, textContent: 'a' });
      expect([status, body.description, body.sourceType]).toEqual([201, null, 'TEXT_INPUT']);
    }
  });

  test('names need not be unique', async () => {
    const [one, two] = await Promise.all([
      create({ name: 'Same', textContent: 'a' }),
      create({ name: 'Same', textContent: 'b' }),
    ]);
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.publicId).not.toBe(two.body.publicId);
  });

  test('a file waits to be processed, and is kept byte for byte', async () => {
    const pdf = await makePdf([{ paragraphs: ['Prices.'] }]);
    const { status, body } = await upload(app, pdf, 'prices.pdf', { name: 'Price list', description: 'By country.' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Price list',
      description: 'By country.',
      sourceType: 'FILE_UPLOAD',
      processingStatus: 'PENDING',
    });
    expect((await stored(body.publicId)).equals(pdf)).toBe(true);
  });

  test('without metadata the name is the name of the file', async () => {
    const { status, body } = await upload(app, 'text', 'Größen & Preise 2026.txt');
    expect([status, body.name, body.description]).toEqual([201, 'Größen & Preise 2026.txt', null]);
    expect((await upload(app, 'text', 'x.md', { description: 'Only this.' })).body).toMatchObject({ name: 'x.md' });
  });

  test('a long name of a file is cut to 150 characters, none of them halved', async () => {
    const { status, body } = await upload(
      app,
      'text',
      `${'😀'.repeat(50)}${'x'.repeat(130)}.txt`,
      undefined,
      'text/plain',
    );
    expect(status).toBe(201);
    expect(body.name).toBe(`${'😀'.repeat(50)}${'x'.repeat(100)}`);
  });

  test.each([
    ['notes.md', 'text/markdown', '# Title', 'markdown'],
    ['NOTES.MARKDOWN', 'application/octet-stream', '# Title', 'markdown'],
    ['table.csv', 'application/vnd.ms-excel', 'a,b\n1,2', 'csv'],
    ['plain.txt', 'application/octet-stream', 'BM is how bitmaps begin', 'text'],
    ['about.md', 'text/markdown', 'A PDF begins with %PDF-1.7.', 'markdown'],
    ['junk.pdf', 'application/pdf', 'From: a scanner\n%PDF-1.7\n%\u0001', 'pdf'],
    ['readme', 'text/markdown; charset=utf-8', '# Title', 'markdown'],
    ['readme', 'application/octet-stream', 'Hello', 'text'],
    ['latin.txt', 'text/plain', Buffer.from('Größe', 'latin1'), 'text'],
    ['wide.txt', 'text/plain', Buffer.from('\ufeffGröße', 'utf16le'), 'text'],
    ['empty.pdf', 'application/pdf', '', 'pdf'],
  ])('a text is of the kind that its name says, or else its type: %s, %s', async (name, type, content, kind) => {
    const { status, body } = await upload(app, content, name, undefined, type);
    expect(status).toBe(201);
    expect(await kindOf(body.publicId)).toBe(kind);
  });

  test('PDF and DOCX are detected from their bytes, whatever type is declared', async () => {
    const pdf = await upload(app, await makePdf([{ paragraphs: ['a'] }]), 'scan', undefined, 'text/plain');
    expect([pdf.status, await kindOf(pdf.body.publicId)]).toEqual([201, 'pdf']);
    const docx = await upload(app, await makeDocx(), 'Handbook.DOCX', undefined, 'application/zip');
    expect([docx.status, await kindOf(docx.body.publicId)]).toEqual([201, 'docx']);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['no name', { textContent: 'a' }],
    ['an empty name', { name: '', textContent: 'a' }],
    ['a name of spaces', { name: '  ', textContent: 'a' }],
    ['a name of 151 characters', { name: 'x'.repeat(151), textContent: 'a' }],
    ['no text', { name: 'A' }],
    ['an empty text', { name: 'A', textContent: '' }],
    ['a text of more than 1,048,576 characters', { name: 'A', textContent: 'x'.repeat(1_048_577) }],
    ['a text with NUL', { name: 'A', textContent: 'a\u0000b' }],
    ['a description of 501 characters', { name: 'A', textContent: 'a', description: 'x'.repeat(501) }],
    ['another sourceType', { name: 'A', textContent: 'a', sourceType: 'file' }],
    ['a field that there is not', { name: 'A', textContent: 'a', url: 'https://x.test' }],
  ])('refuses %s', async (_what, body) => {
    await expectRefused(create(body), 400, 'VALIDATION_ERROR');
  });

  test.each([
    ['an empty name', { name: '' }],
    ['a name of spaces', { name: ' ' }],
    ['a name of 151 characters', { name: 'x'.repeat(151) }],
    ['a field that there is not', { title: 'x' }],
  ])('refuses metadata with %s', async (_what, metadata) => {
    await expectRefused(upload(app, 'text', 'a.txt', metadata), 400, 'VALIDATION_ERROR');
  });

  test('refuses a form without a file', async () => {
    await expectRefused(app.api('post', '/knowledge-sources').field('metadata', '{}'), 400, 'VALIDATION_ERROR');
  });
});

describe('413 PAYLOAD_TOO_LARGE', () => {
  test('refuses a file of more than 20 MiB', async () => {
    await expectRefused(upload(app, Buffer.alloc(20 * 1024 * 1024 + 1, 'x'), 'a.txt'), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('takes one of 20 MiB', async () => {
    expect((await upload(app, Buffer.alloc(20 * 1024 * 1024, 'x '), 'a.txt')).status).toBe(201);
  });
});

/** A ZIP64 locator whose numbers no file can have. */
function zip64Nowhere(): Buffer {
  const locator = Buffer.alloc(20, 0xff);
  locator.write('PK\x06\x07', 'latin1');
  return locator;
}

describe('415 UNSUPPORTED_MEDIA_TYPE', () => {
  const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  test.each<[string, string, string, () => Promise<Buffer | string> | Buffer | string, RegExp]>([
    ['a picture', 'a.png', 'image/png', () => PIXEL, /image\/png/],
    ['a picture named as PDF', 'a.pdf', 'application/pdf', () => PIXEL, /named as PDF.*image\/png/],
    ['a picture named as text', 'a.txt', 'text/plain', () => PIXEL, /named as plain text.*image\/png/],
    ['a text named as PDF', 'a.pdf', 'application/pdf', () => 'Hello', /named as PDF.*plain text/],
    ['a text named as DOCX', 'a.docx', docx, () => 'Hello', /named as DOCX.*plain text/],
    ['a PDF named as text', 'a.txt', 'text/plain', () => makePdf([{}]), /named as plain text.*PDF/],
    ['a DOCX named as PDF', 'a.pdf', 'application/pdf', makeDocx, /named as PDF.*DOCX/],
    ['an archive named as DOCX', 'a.docx', docx, () => makeZip({ 'a.txt': 'a' }), /named as DOCX.*application\/zip/],
    [
      'a spreadsheet',
      'a.xlsx',
      'application/zip',
      () => makeZip({ '[Content_Types].xml': '<Types/>' }),
      /application\/zip/,
    ],
    // Its directory is said to be beyond the end of all numbers, which once ended the process.
    [
      'an archive that lies about where it ends',
      'a.docx',
      docx,
      () => rawZip([{ name: '[Content_Types].xml', data: 'x' }], { before: zip64Nowhere() }),
      /application\/zip/,
    ],
    ['a broken archive', 'a.docx', docx, () => Buffer.from('PK\x03\x04 and so on'), /application\/zip/],
    [
      'an old Word document',
      'a.doc',
      'application/msword',
      () => Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      /Save it as DOCX/,
    ],
    ['a DOCX with a password', 'a.docx', docx, () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), /without a password/],
    ['rich text', 'a.rtf', 'application/rtf', () => '{\\rtf1 Hello}', /rtf/],
    ['a web page', 'a.html', 'text/html', () => '<p>Hello</p>', /no kind that is accepted/],
    ['JSON', 'a.json', 'application/json', () => '{}', /no kind that is accepted/],
    ['bytes of no meaning', 'a', 'application/octet-stream', () => Buffer.from([1, 2, 3, 4]), /no known type/],
  ])('refuses %s', async (_what, name, type, content, message) => {
    const refused = upload(app, await content(), name, undefined, type);
    const { body } = (await expectRefused(refused, 415, 'UNSUPPORTED_MEDIA_TYPE')) as {
      body: { message?: string; code: string };
    };
    expect(body.message).toMatch(message);
  });

  test('refuses a body of another type', async () => {
    const text = app.api('post', '/knowledge-sources').type('text/plain').send('Hello');
    await expectRefused(text, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('500 INTERNAL_ERROR', () => {
  test('a row that cannot be stored leaves no file behind', async () => {
    const refusing = 'alter table knowledge_sources add constraint refusing check (name <> $$Refused$$) not valid';
    await adminQuery(refusing, app.database.name);
    await expectRefused(create({ name: 'Refused', textContent: 'a' }), 500, 'INTERNAL_ERROR');
    await adminQuery('alter table knowledge_sources drop constraint refusing', app.database.name);
  });
});
