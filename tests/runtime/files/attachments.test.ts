import { createHash } from 'node:crypto';
import { type AttachmentInput, MAX_INLINE_BYTES, resolveAttachments } from '../../../runtime/files/attachments.ts';
import { trapConnections, trapPort, useServers } from '../../core/outgoingServers.ts';
import { CONTEXT, faultOf, GIF, inline, JPEG, MODEL, PDF, PNG, TEXT, WEBP } from './attachmentSamples.ts';

useServers();

/** A zip with one stored entry. */
function zip(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt32LE(content.length, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, Buffer.from(name), content]);
}

describe('kinds, detected from the bytes', () => {
  test.each<[string, Buffer, AttachmentInput, string, string, string]>([
    ['PNG', PNG, {}, 'image', 'image/png', 'attachment-0.png'],
    ['PNG under a wrong name', PNG, { filename: 'notes.txt' }, 'image', 'image/png', 'notes.txt'],
    ['JPEG, declared by its nickname', JPEG, { mediaType: 'image/JPG' }, 'image', 'image/jpeg', 'attachment-0.jpg'],
    ['GIF', GIF, {}, 'image', 'image/gif', 'attachment-0.gif'],
    ['WebP', WEBP, {}, 'image', 'image/webp', 'attachment-0.webp'],
    ['PDF', PDF, { mediaType: 'application/octet-stream' }, 'document', 'application/pdf', 'attachment-0.pdf'],
    ['text without a hint', TEXT, {}, 'document', 'text/plain', 'attachment-0.txt'],
    ['CSV by declaration', TEXT, { mediaType: 'text/csv; charset=utf-8' }, 'document', 'text/csv', 'attachment-0.csv'],
    ['CSV by name', TEXT, { filename: 'Data.CSV' }, 'document', 'text/csv', 'Data.CSV'],
    ['Markdown by name', TEXT, { filename: 'README.markdown' }, 'document', 'text/markdown', 'README.markdown'],
    [
      'text that begins like a bitmap',
      Buffer.from('BM is a car'),
      { filename: 'a.txt' },
      'document',
      'text/plain',
      'a.txt',
    ],
    ['a path as name', TEXT, { filename: '../../etc/pass\u0000wd.txt' }, 'document', 'text/plain', 'passwd.txt'],
    ['a name of nothing', TEXT, { filename: '///' }, 'document', 'text/plain', 'attachment-0.txt'],
  ])('%s', async (_title, bytes, more, kind, mediaType, filename) => {
    const [one] = await resolveAttachments([inline(bytes, more)], CONTEXT);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(one).toMatchObject({ kind, mediaType, filename, sizeBytes: bytes.length, sha256 });
    expect(Buffer.from(one?.bytes ?? []).equals(bytes)).toBe(true);
    expect(one).not.toHaveProperty('url');
  });

  test.each<[string, Buffer, AttachmentInput, RegExp]>([
    ['a program', Buffer.from('7f454c46020101000000000000000000', 'hex'), {}, /not accepted/],
    [
      'a program that is declared as text',
      Buffer.from('7f454c46020101000000000000000000', 'hex'),
      { mediaType: 'text/plain' },
      /not accepted/,
    ],
    ['SVG', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'), {}, /not accepted/],
    ['DOCX', zip('word/document.xml', Buffer.from('<w/>')), { filename: 'a.docx' }, /wordprocessingml.* not accepted/],
    ['noise', Buffer.from('0102030405060708', 'hex'), {}, /no known type/],
    ['Latin-1 as text', Buffer.from('Grüße', 'latin1'), { mediaType: 'text/plain' }, /not text in UTF-8/],
    ['text with NUL', Buffer.from('a\0b'), { filename: 'a.csv' }, /not text in UTF-8/],
    [
      'PNG declared as JPEG',
      PNG,
      { mediaType: 'image/jpeg' },
      /declared as image\/jpeg, but its content is image\/png/,
    ],
    [
      'PNG declared as text',
      PNG,
      { mediaType: 'text/plain' },
      /declared as text\/plain, but its content is image\/png/,
    ],
    [
      'text declared as PDF',
      TEXT,
      { mediaType: 'application/pdf' },
      /declared as application\/pdf, but its content is text\/plain/,
    ],
    [
      'JSON',
      Buffer.from('{}'),
      { mediaType: 'application/json' },
      /declared as application\/json, which is not accepted/,
    ],
  ])('%s is refused', async (_title, bytes, more, message) => {
    const error = await faultOf([inline(bytes, more)]);
    expect(error).toMatchObject({ code: 'UNSUPPORTED_ATTACHMENT', status: 422 });
    expect(error.message).toMatch(message);
  });
});

describe('what the model takes', () => {
  test('a kind that it does not accept is refused by name', async () => {
    const model = { ...MODEL, supportsImage: false };
    const image = await faultOf([inline(PNG, { filename: 'cat.png' })], { model });
    expect(image.code).toBe('UNSUPPORTED_ATTACHMENT');
    expect(image.message).toBe('attachments[0] (cat.png) is image/png, but the model test-model takes no images.');
    const document = await faultOf([inline(PDF)], { model: { ...MODEL, supportsDocument: false } });
    expect(document.message).toContain('test-model takes no documents');
    expect(await resolveAttachments([inline(PDF)], { ...CONTEXT, model })).toHaveLength(1);
  });

  test('a model without attachments refuses before anything is fetched', async () => {
    const model = { name: 'plain', supportsImage: false, supportsDocument: false };
    const error = await faultOf([{ url: `http://127.0.0.1:${trapPort}/` }], { model });
    expect(error).toMatchObject({ code: 'UNSUPPORTED_ATTACHMENT', message: 'The model plain takes no attachments.' });
    expect(trapConnections).toBe(0);
    expect(await resolveAttachments([], { ...CONTEXT, model })).toEqual([]);
  });
});

describe('inline content', () => {
  const text = Buffer.from('hello, world');

  test.each([
    ['neither', {}],
    ['both', { base64: text.toString('base64'), url: 'https://example.com/' }],
  ])('%s of base64 and url is a 400', async (_title, input) => {
    const error = await faultOf([inline(text), input]);
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 });
    expect(error.details).toEqual([
      { path: '/body/attachments/1', message: 'must have exactly one of base64 and url', keyword: 'oneOf' },
    ]);
  });

  test.each([
    [''],
    ['='],
    ['aGVsbG8'],
    ['aGVsbG8=\n'],
    ['aGVs bG8='],
    ['aGVsbG9='],
    ['aGVsbG8=='],
    ['aGVsbG8=aGVsbG8='],
    ['_-_-'],
    ['a*b='],
    ['data:text/plain;base64,aGVsbG8='],
  ])('base64 %j is a 400', async (base64) => {
    const error = await faultOf([{ base64 }]);
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '/body/attachments/0/base64', keyword: 'contentEncoding' }],
    });
  });

  test('has at most 1 MiB', async () => {
    const [one] = await resolveAttachments([inline(Buffer.alloc(MAX_INLINE_BYTES, 'a'))], CONTEXT);
    expect(one?.sizeBytes).toBe(MAX_INLINE_BYTES);
    for (const over of [1, 2, 3, 1_000]) {
      expect((await faultOf([inline(Buffer.alloc(MAX_INLINE_BYTES + over, 'a'))])).code).toBe('ATTACHMENT_TOO_LARGE');
    }
  });

  test('is limited to ten', async () => {
    expect(await resolveAttachments(Array(10).fill(inline(text)), CONTEXT)).toHaveLength(10);
    expect(await faultOf(Array(11).fill(inline(text)))).toMatchObject({
      details: [{ path: '/body/attachments', keyword: 'maxItems' }],
    });
  });
});
