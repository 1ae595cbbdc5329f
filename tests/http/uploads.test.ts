// Longer than most: one table of malformed forms, run against every operation that takes one.
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fault } from '../../core/errors.ts';
import type { OperationId } from '../../generated/operations.ts';
import { API_PREFIX } from '../../generated/operations.ts';
import type { Context, Handlers, Upload } from '../../handlers/handler.ts';
import { tableContents } from '../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { type Answer, BOUNDARY, FORM, filePart, form, part, post, textPart } from '../support/http/multipart.ts';
import { poll } from '../support/poll.ts';
import { processorMs } from '../support/processorTime.ts';

/** The way of a form to its handler. Nothing that is wrong with one may get to a handler, write, or stay on the disk. */

const PATHS = { uploadSkill: '/skills', createKnowledgeSource: '/knowledge-sources', uploadHubLogo: '/hub/logos/icon' };
const operations = Object.keys(PATHS) as (keyof typeof PATHS)[];
const LIMITS = { uploadSkill: 10, createKnowledgeSource: 20, uploadHubLogo: 5 };
const MIB = 1024 * 1024;

let app: TestApp;
let before: Record<string, string>;
/** What the handlers were given, with the bytes that they found. */
let arrived: { body: unknown; upload: Upload<'createKnowledgeSource'>; bytes: Buffer }[] = [];

/** Answers with an error that every operation documents, as the uploads themselves are nothing here. */
async function take({ body, upload }: Context<OperationId>): Promise<never> {
  const form = upload as Upload<'createKnowledgeSource'> | undefined;
  if (form) arrived.push({ body, upload: form, bytes: await readFile(form.file.path) });
  throw fault('UNAVAILABLE');
}

beforeAll(async () => {
  const handlers = { uploadSkill: take, createKnowledgeSource: take, uploadHubLogo: take } as Handlers;
  app = await startTestApp({ handlers });
  // The first request of an operation compiles its schema.
  for (const id of operations) await post(app, PATHS[id], form());
  before = await tableContents(app.database.name);
});
beforeEach(() => {
  arrived = [];
});
afterAll(() => app.close());

/** The temporary files that are there now. */
async function leftOver(): Promise<string[]> {
  return readdir(join(app.dataDir, 'tmp'));
}

/** Waits until the temporary files are as many as that; handlers answer before their files are removed. */
async function temporaryFiles(count: number): Promise<void> {
  await poll(leftOver, (names) => names.length === count);
}

const good = filePart();
const many = (count: number, each: (index: number) => Buffer) =>
  form(...Array.from({ length: count }, (_, i) => each(i)));
const disposition = 'Content-Disposition: form-data; name="file"; filename="SKILL.md"';

/** What is wrong, the place that the answer names, the body, and another content type than that of the form. */
const malformed: [what: string, where: string, body: Buffer, contentType?: string][] = [
  ['no boundary', '/body', form(good), 'multipart/form-data'],
  ['an empty boundary', '/body', form(good), 'multipart/form-data; boundary='],
  ['an empty boundary in quotes', '/body', form(good), 'multipart/form-data; boundary=""'],
  ['a boundary of 71 characters', '/body', form(good), `multipart/form-data; boundary=${'b'.repeat(71)}`],
  ['a boundary of 10,000 characters', '/body', form(good), `multipart/form-data; boundary=${'b'.repeat(10_000)}`],
  ['a boundary of forbidden characters', '/body', form(good), 'multipart/form-data; boundary="<\u00e9>"'],
  ['a boundary with an open quote', '/body', form(good), `multipart/form-data; boundary="${BOUNDARY}`],
  ['another boundary than in the body', '/body', form(good), 'multipart/form-data; boundary=other'],
  ['no body', '/body', Buffer.alloc(0)],
  ['a line break only', '/body', Buffer.from('\r\n')],
  ['no parts', '/body/file', form()],
  ['JSON', '/body', Buffer.from('{"file":"x"}')],
  ['noise', '/body', randomBytes(5000)],
  ['a gzipped form', '/body', gzipSync(form(good))],
  ['a query string', '/body', Buffer.from('file=x&name=y')],
  ['no end', '/body', good],
  ['an end in the middle of the file', '/body', good.subarray(0, -4)],
  ['an end in the middle of a header', '/body', good.subarray(0, 60)],
  ['an end in the middle of the boundary', '/body', form(good).subarray(0, -6)],
  ['line feeds alone', '/body', Buffer.from(form(good).toString().replaceAll('\r\n', '\n'))],
  ['a part without headers', '/body', form(part([], 'x'))],
  ['a part without headers after a good one', '/body', form(good, part([], 'x'))],
  ['a part without a disposition', '/body', form(good, part('Content-Type: text/plain', 'x'))],
  ['a disposition of mail', '/body', form(part('Content-Disposition: attachment; name="file"; filename="x"', 'x'))],
  ['a disposition with an open quote', '/body', form(part('Content-Disposition: form-data; name="file', 'x'))],
  ['a broken encoded file name', '/body', form(part(`${disposition}; filename*=UTF-8''%zz`, 'x'))],
  ['a part without a name', '/body', form(part('Content-Disposition: form-data; filename="a.md"', 'x'))],
  ['a part with an empty name', '/body', form(part('Content-Disposition: form-data; name=""; filename="a.md"', 'x'))],
  ['text without a name', '/body', form(good, part('Content-Disposition: form-data', 'x'))],
  ['a header without a colon', '/body', form(part([disposition, 'nonsense'], 'x'))],
  ['a header with NUL', '/body', form(part([disposition, 'X-A: \u0000'], 'x'))],
  ['a header of 20 KB', '/body', form(part([disposition, `X-A: ${'a'.repeat(20_000)}`], 'x'))],
  ['5000 headers', '/body', form(part([disposition, ...Array.from({ length: 5000 }, (_, i) => `X-${i}: a`)], 'x'))],
  ['10,000 text parts', '/body/a0', many(10_000, (i) => textPart(`a${i}`, 'x'))],
  ['10,000 files', '/body/file', many(10_000, () => good)],
  ['10,000 parts without headers', '/body', many(10_000, () => part([], ''))],
  [
    '10,000 unknown files after a good one',
    '/body/a1',
    many(10_001, (i) => filePart('x', 'a.md', i ? `a${i}` : 'file')),
  ],
  ['a name of 100,000 characters', '/body', form(textPart('n'.repeat(100_000), 'x'))],
  ['the file as text', '/body/file', form(textPart('file', 'x'))],
  [
    'a file without a file name',
    '/body/file',
    form(part(['Content-Disposition: form-data; name="file"', 'Content-Type: application/octet-stream'], 'x')),
  ],
  ['an empty file name', '/body/file', form(filePart('x', ''))],
  ['two dots as file name', '/body/file', form(filePart('x', '..'))],
  ['a folder as file name', '/body/file', form(filePart('x', '../../'))],
  ['control characters as file name', '/body/file', form(filePart('x', '%0A%0D'))],
  ['two files', '/body/file', form(good, filePart('y', 'other.md'))],
  ['a file and text of the same name', '/body/file', form(good, textPart('file', 'x'))],
  ['an unknown part', '/body/surprise', form(good, textPart('surprise', 'x'))],
  ['an unknown part before the file', '/body/surprise', form(textPart('surprise', 'x'), good)],
  ['an unknown file', '/body/surprise', form(good, filePart('x', 'a.md', 'surprise'))],
  ['the name in capitals', '/body/File', form(filePart('x', 'a.md', 'File'))],
  ['a nested file', '/body/file[0]', form(filePart('x', 'a.md', 'file[0]'))],
  ['a nested part', '/body/metadata[name]', form(good, textPart('metadata[name]', 'x'))],
  ['a part as a list', '/body/metadata[]', form(good, textPart('metadata[]', 'x'))],
  ['a name nested 1000 deep', '/body', form(textPart(`metadata${'[a]'.repeat(1000)}`, 'x'))],
  ['an enormous index', '/body/metadata[4294967294]', form(textPart('metadata[4294967294]', 'x'))],
  ['__proto__', '/body/__proto__', form(good, textPart('__proto__', '{"name":"x"}'))],
  ['constructor[prototype]', '/body/constructor[prototype]', form(good, textPart('constructor[prototype]', 'x'))],
  ['a slash in the name', '/body/a~1b', form(good, textPart('a/b', 'x'))],
  ['base64', '/body/file', form(part([disposition, 'Content-Transfer-Encoding: base64'], 'eA=='))],
  [
    'parts in a part',
    '/body/file',
    form(
      part(
        ['Content-Disposition: form-data; name="file"', 'Content-Type: multipart/mixed; boundary=b'],
        '--b\r\n\r\nx\r\n--b--',
      ),
    ),
  ],
];

describe.each(operations)('%s refuses', (id) => {
  test.each(malformed)('%s', async (_what, where, body, contentType = FORM) => {
    let answer = {} as Answer;
    const ms = await processorMs(async () => {
      answer = await post(app, PATHS[id], body, { contentType });
    });
    const named = answer.body.details?.some(({ path }) => path === where || path.startsWith(`${where}/`));
    expect([answer.status, answer.body.code, named ? where : answer.body.details]).toEqual([
      400,
      'VALIDATION_ERROR',
      where,
    ]);
    // One that waited for more would get 408 at its time limit.
    expect(ms).toBeLessThan(1000);
    expect(await leftOver()).toEqual([]);
    expect(arrived).toEqual([]);
  });

  test('a file over its limit, with or without a declared length', async () => {
    const large = form(filePart(Buffer.alloc(LIMITS[id] * MIB + 1)));
    for (const options of [{}, { chunk: 64 * 1024 }]) {
      const answer = await post(app, PATHS[id], large, options);
      expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
      expect(answer.body.message).toContain(String(LIMITS[id] * MIB));
      expect(await leftOver()).toEqual([]);
    }
  });

  test('what is over its limit without being the file', async () => {
    const filler = Buffer.alloc((LIMITS[id] + 1) * MIB, 0x20);
    for (const body of [Buffer.concat([filler, form(good)]), Buffer.concat([form(good), filler])]) {
      for (const options of [{}, { chunk: 64 * 1024 }]) {
        const answer = await post(app, PATHS[id], body, options);
        expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
        expect(await leftOver()).toEqual([]);
      }
    }
  });

  test('a length far over the limit before anything is sent', async () => {
    const answer = await new Promise((resolve, reject) => {
      const headers = {
        'X-Api-Key': app.workspace.apiKey,
        'Content-Type': FORM,
        'Content-Length': String(4 * 1024 * MIB),
      };
      const outgoing = request(app.origin + API_PREFIX + PATHS[id], { method: 'POST', headers, agent: false });
      outgoing.on('response', (incoming) => {
        resolve(incoming.statusCode);
        outgoing.destroy();
      });
      outgoing.on('error', reject).flushHeaders();
    });
    expect(answer).toBe(413);
  });

  test.each([
    ['multipart/mixed', `multipart/mixed; boundary=${BOUNDARY}`, {}],
    ['multipart/form-datax', `multipart/form-datax; boundary=${BOUNDARY}`, {}],
    ['a form of the other kind', 'application/x-www-form-urlencoded', {}],
    ['a lone file', 'application/octet-stream', {}],
    ['no type', '', {}],
    ['gzip', FORM, { 'Content-Encoding': 'gzip' }],
  ])('%s as content type', async (_what, contentType, headers) => {
    const answer = await post(app, PATHS[id], form(good), { contentType, headers });
    expect([answer.status, answer.body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  test('a client that closes its side in the middle', async () => {
    const socket = connect(Number(new URL(app.origin).port), '127.0.0.1');
    const head = [`POST ${API_PREFIX}${PATHS[id]} HTTP/1.1`, 'Host: localhost', `X-Api-Key: ${app.workspace.apiKey}`];
    socket.write(`${[...head, `Content-Type: ${FORM}`, 'Content-Length: 100000'].join('\r\n')}\r\n\r\n`);
    socket.write(good);
    await temporaryFiles(1);
    socket.end();
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    await temporaryFiles(0);
  });

  test('nothing of a client that goes away in the middle', async () => {
    const outgoing = request(app.origin + API_PREFIX + PATHS[id], {
      method: 'POST',
      agent: false,
      headers: { 'X-Api-Key': app.workspace.apiKey, 'Content-Type': FORM },
    });
    outgoing.on('error', () => {});
    outgoing.write(filePart(randomBytes(MIB)).subarray(0, -100));
    await temporaryFiles(1);
    outgoing.destroy();
    await temporaryFiles(0);
    expect(arrived).toEqual([]);
  });

  test('without reading, when the key is no good', async () => {
    const answer = await post(app, PATHS[id], form(good), { headers: { 'X-Api-Key': 'gsk_nonsense' } });
    expect(answer.status).toBe(401);
    expect(await leftOver()).toEqual([]);
  });
});

describe('createKnowledgeSource refuses metadata that', () => {
  const metadata = (content: string | Buffer) => form(good, textPart('metadata', content));
  const asBlob = (content: string | Buffer) => form(good, filePart(content, 'blob', 'metadata'));

  test.each<[what: string, where: string, content: string | Buffer]>([
    ['is no JSON', '', 'name'],
    ['is empty', '', ''],
    ['is cut off', '', '{"name":"x"'],
    ['is NaN', '', 'NaN'],
    ['is a list', '', '[]'],
    ['is null', '', 'null'],
    ['is a text', '', '"x"'],
    ['is not UTF-8', '', Buffer.from('{"name":"\u00ff"}', 'latin1')],
    ['is UTF-16', '', Buffer.from('{"name":"x"}', 'utf16le')],
    ['has an unknown field', '/surprise', '{"surprise":1}'],
    ['has __proto__', '/__proto__', '{"__proto__":{"name":"x"}}'],
    ['has a name of the wrong type', '/name', '{"name":1}'],
    ['has a blank name', '/name', '{"name":" "}'],
    ['has a long name', '/name', JSON.stringify({ name: 'n'.repeat(151) })],
    ['has NUL', '/name', '{"name":"a\\u0000b"}'],
    ['has half a surrogate pair', '/name', '{"name":"a\\ud800"}'],
    ['is nested deep', '/a', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ])('%s', async (_what, where, content) => {
    for (const body of [metadata(content), asBlob(content)]) {
      const answer = await post(app, PATHS.createKnowledgeSource, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(answer.body.details[0]?.path).toMatch(new RegExp(`^/body/metadata${where}`));
      expect(await leftOver()).toEqual([]);
    }
  });

  test('is larger than 64 KiB', async () => {
    const large = `{"name":"${' '.repeat(64 * 1024)}"}`;
    for (const body of [metadata(large), asBlob(large)]) {
      const answer = await post(app, PATHS.createKnowledgeSource, body);
      expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
      expect(await leftOver()).toEqual([]);
    }
  });

  test('is sent twice', async () => {
    const answer = await post(
      app,
      PATHS.createKnowledgeSource,
      form(textPart('metadata', '{}'), textPart('metadata', '{}'), good),
    );
    expect([answer.status, answer.body.details[0]?.path]).toEqual([400, '/body/metadata']);
  });

  test('is bytes without a file name', async () => {
    const headers = ['Content-Disposition: form-data; name="metadata"', 'Content-Type: application/octet-stream'];
    const answer = await post(app, PATHS.createKnowledgeSource, form(good, part(headers, '{}')));
    expect([answer.status, answer.body.details[0]?.path]).toEqual([400, '/body/metadata']);
  });

  test('comes with faults elsewhere, all of which are named', async () => {
    const answer = await post(app, PATHS.createKnowledgeSource, form(textPart('metadata', '{"name":1}')));
    expect(answer.body.details.map(({ path }) => path).sort()).toEqual(['/body/file', '/body/metadata/name']);
  });
});

describe('a good form arrives', () => {
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

  test.each(operations)('byte for byte, at the limit of %s', async (id) => {
    const bytes = randomBytes(LIMITS[id] * MIB);
    for (const options of [{}, { chunk: 10_007 }]) {
      const answer = await post(app, PATHS[id], form(filePart(bytes, 'Größe.bin')), options);
      expect([answer.status, answer.body.code]).toEqual([503, 'UNAVAILABLE']);
      const { body, upload, bytes: found } = arrived.pop() ?? {};
      expect(body).toBeUndefined();
      expect(upload).toEqual({
        file: {
          path: expect.any(String),
          name: 'Größe.bin',
          sizeBytes: bytes.length,
          mediaType: 'application/octet-stream',
        },
        fields: {},
      });
      expect(hash(found as Buffer)).toBe(hash(bytes));
      expect(await leftOver()).toEqual([]);
    }
  });

  test.each<[what: string, body: Buffer]>([
    ['before the file', form(textPart('metadata', '{"name":"Prices","description":null}'), good)],
    ['after the file', form(good, textPart('metadata', '{"name":"Prices","description":null}'))],
    ['as a browser sends it', form(good, filePart('{"name":"Prices","description":null}', 'blob', 'metadata'))],
    [
      'with its type',
      form(
        good,
        part(
          ['Content-Disposition: form-data; name=metadata', 'Content-Type: application/json'],
          '{"name":"Prices","description":null}',
        ),
      ),
    ],
  ])('with metadata %s', async (_what, body) => {
    await post(app, PATHS.createKnowledgeSource, body);
    expect(arrived[0]?.upload.fields).toEqual({ metadata: { name: 'Prices', description: null } });
    expect(arrived[0]?.bytes.toString()).toBe('x');
  });

  test('with a preamble, an epilogue and lines that look like boundaries', async () => {
    const content = `--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n${'-'.repeat(100)}${BOUNDARY}\r\n`;
    const body = Buffer.concat([Buffer.from('preamble\r\n'), form(filePart(content)), Buffer.from('epilogue')]);
    await post(app, PATHS.uploadSkill, body, { chunk: 3 });
    expect(arrived[0]?.bytes.toString()).toBe(content);
  });

  test('from fetch', async () => {
    const data = new FormData();
    data.set('file', new Blob(['# Prices'], { type: 'text/markdown' }), 'prices.md');
    data.set('metadata', new Blob(['{"name":"Prices"}'], { type: 'application/json' }));
    await fetch(app.origin + API_PREFIX + PATHS.createKnowledgeSource, {
      method: 'POST',
      headers: { 'X-Api-Key': app.workspace.apiKey },
      body: data,
    });
    expect(arrived[0]?.upload).toMatchObject({
      file: { name: 'prices.md', mediaType: 'text/markdown', sizeBytes: 8 },
      fields: { metadata: { name: 'Prices' } },
    });
  });

  test('empty, when the file is empty', async () => {
    await post(app, PATHS.uploadSkill, form(filePart('')));
    expect(arrived[0]?.upload.file.sizeBytes).toBe(0);
  });

  test('beside another', async () => {
    const files = Array.from({ length: 6 }, () => randomBytes(MIB));
    await Promise.all(files.map((bytes) => post(app, PATHS.uploadSkill, form(filePart(bytes)), { chunk: 50_000 })));
    expect(arrived.map(({ bytes }) => hash(bytes)).sort()).toEqual(files.map(hash).sort());
    expect(new Set(arrived.map(({ upload }) => upload.file.path)).size).toBe(6);
    expect(await leftOver()).toEqual([]);
  });

  test('and JSON still does where the operation takes both', async () => {
    const answer = await app.api('post', PATHS.createKnowledgeSource).send({ name: 'x', textContent: '' });
    expect([answer.status, answer.body.details[0]?.path]).toEqual([400, '/body/textContent']);
  });
});

test('all of this has written nothing', async () => {
  expect(await leftOver()).toEqual([]);
  expect(await tableContents(app.database.name)).toEqual(before);
});
