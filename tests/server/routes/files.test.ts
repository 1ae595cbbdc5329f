import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { StorageError } from '../../../integrations/storage/storage.ts';
import { publicFileUrl, speechKey } from '../../../runtime/files/publicFiles.ts';
import { sourceKey } from '../../../runtime/knowledge/sourceKind.ts';
import { mp3, wav } from '../../support/files/audioSamples.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { until } from '../../support/poll.ts';

let app: TestApp;
let key: string;
const SOUND = mp3(24);
const random = () => randomUUID().replaceAll('-', '');

beforeAll(async () => {
  app = await startTestApp();
  key = await stored(SOUND);
});
afterAll(() => app.close());

async function stored(content: Buffer, extension = 'mp3'): Promise<string> {
  const made = speechKey(app.workspace.workspaceId, random(), extension);
  await app.service.runtime.files.put(made, content);
  return made;
}

/** Requests a path unchanged: HTTP clients normalize dots and slashes. */
function ask(path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  const { hostname, port } = new URL(app.origin);
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const outgoing = request({ hostname, port, path, ...options }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
    });
    outgoing.on('error', reject).end();
  });
}

/** Copies that requests are answered from. */
const copies = () => readdir(join(app.dataDir, 'tmp')).catch(() => []);

describe('a spoken reply', () => {
  test('is read by anybody who has its address, and cannot do anything in a browser but sound', async () => {
    const answer = await fetch(publicFileUrl(app.origin, key));
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(SOUND)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(SOUND.length),
      'content-disposition': 'inline; filename="speech.mp3"',
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, max-age=31536000, immutable',
      'accept-ranges': 'bytes',
    });
    expect(answer.headers.has('last-modified')).toBe(false);
  });

  test('has the type of its kind', async () => {
    const answer = await ask(`/files/${await stored(wav(), 'wav')}`);
    expect([answer.status, answer.headers['content-type'], answer.body.length]).toEqual([
      200,
      'audio/wav',
      wav().length,
    ]);
  });

  test('HEAD returns its length and no body', async () => {
    const answer = await ask(`/files/${key}`, { method: 'HEAD' });
    expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([
      200,
      String(SOUND.length),
      0,
    ]);
  });

  test('is sent in parts, as players ask for them', async () => {
    const part = await ask(`/files/${key}`, { headers: { range: 'bytes=100-199' } });
    expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 100-199/${SOUND.length}`]);
    expect(part.body.equals(SOUND.subarray(100, 200))).toBe(true);
    const etag = String(part.headers.etag);
    const same = await ask(`/files/${key}`, { headers: { range: 'bytes=0-9', 'if-range': etag } });
    const other = await ask(`/files/${key}`, { headers: { range: 'bytes=0-9', 'if-range': '"other"' } });
    expect([same.status, other.status]).toEqual([206, 200]);
    const beyond = await ask(`/files/${key}`, { headers: { range: 'bytes=999999-' } });
    expect([beyond.status, beyond.headers['content-range'], beyond.body.length]).toEqual([
      416,
      `bytes */${SOUND.length}`,
      0,
    ]);
  });

  test('is not sent again to who has it', async () => {
    const { headers } = await ask(`/files/${key}`);
    const again = await ask(`/files/${key}`, { headers: { 'if-none-match': String(headers.etag) } });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await ask(`/files/${await stored(SOUND)}`)).headers.etag).not.toBe(headers.etag);
  });

  test('leaves no copy behind', async () => {
    await Promise.all(Array.from({ length: 20 }, () => ask(`/files/${key}`)));
    await until(async () => (await copies()).length === 0);
  });

  test('costs one copy, however many read it slowly, and none when they are gone', async () => {
    const large = await stored(Buffer.concat([SOUND, Buffer.alloc(20_000_000)]));
    const { hostname, port } = new URL(app.origin);
    const readers = Array.from({ length: 5 }, () => {
      const socket = connect(Number(port), hostname).pause();
      socket.write(`GET /files/${large} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return socket;
    });
    await until(async () => (await copies()).length === 1);
    await Promise.all(readers.map((socket) => new Promise((resolve) => socket.once('readable', resolve))));
    expect(await copies()).toHaveLength(1);
    for (const socket of readers) socket.destroy();
    await until(async () => (await copies()).length === 0);
  });
});

describe('404 NOT_FOUND, as for any other path', () => {
  const notFound = async (path: string, method = 'GET') => {
    const answer = await ask(path, { method });
    const { code } = JSON.parse(answer.body.toString()) as { code: string };
    const types = [answer.headers['content-type'], answer.headers['cache-control']];
    return [answer.status, code, ...types];
  };
  const NOT_FOUND = [404, 'NOT_FOUND', 'application/json; charset=utf-8', 'no-store'];

  test('what is not there, and what is deleted', async () => {
    expect(await notFound(`/files/${speechKey(app.workspace.workspaceId, random(), 'mp3')}`)).toEqual(NOT_FOUND);
    const deleted = await stored(SOUND);
    await app.service.runtime.files.delete(deleted);
    expect(await notFound(`/files/${deleted}`)).toEqual(NOT_FOUND);
  });

  test('files of other kinds, though they are there', async () => {
    const id = app.workspace.workspaceId;
    const others = [
      sourceKey(id, randomUUID()),
      `${id}/speech/short.mp3`,
      `${id}/notes/${random()}.mp3`,
      `${id}/speech/${random()}.html`,
    ];
    for (const other of others) {
      await app.service.runtime.files.put(other, Buffer.from('secret'));
      expect([other, ...(await notFound(`/files/${other}`))]).toEqual([other, ...NOT_FOUND]);
    }
  });

  test('every way around: dots, slashes, encodings, other cases', async () => {
    const [workspace = '', , name = ''] = key.split('/');
    const source = sourceKey(workspace, randomUUID());
    await app.service.runtime.files.put(source, Buffer.from('secret'));
    const paths = [
      `/files/${workspace}/speech/../../${source}`,
      `/files/${workspace}/speech/..%2f..%2f${source.replaceAll('/', '%2f')}`,
      `/files/%2e%2e/files/${key}`,
      `/files/./${key}`,
      `/files//${key}`,
      `/files/${workspace}//speech/${name}`,
      `/files/${workspace}%2Fspeech%2F${name}`,
      `/files/${workspace}/speech%2F${name}`,
      `/files/${workspace}/speech/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
      `/files/${key}/`,
      `/files/${key}%00`,
      `/files/${key}%`,
      `/files/${key}\\`,
      `/files/${key}/..`,
      `/files/${key.toUpperCase()}`,
      `/Files/${key}`,
      `/files/${workspace}/speech/`,
      '/files/',
      '/files',
      '/files/../../../../etc/passwd',
      '/files//etc/passwd',
    ];
    for (const path of paths) expect([path, ...(await notFound(path))]).toEqual([path, ...NOT_FOUND]);
  });

  test('other methods', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect([method, ...(await notFound(`/files/${key}`, method))]).toEqual([method, ...NOT_FOUND]);
    }
  });
});

describe('no cache keeps an answer that is none', () => {
  test.each<[number, string, () => Promise<void>]>([
    [503, 'UNAVAILABLE', () => Promise.reject(new StorageError('The storage is down.'))],
    [500, 'INTERNAL_ERROR', () => Promise.resolve()],
  ])('%i %s: the storage is down, or the copy is lost', async (status, code, broken) => {
    const { files } = app.service.runtime;
    const fetchFile = files.fetch;
    files.fetch = broken;
    try {
      const { headers, ...answer } = await ask(`/files/${key}`);
      expect([answer.status, headers['cache-control'], headers.etag]).toEqual([status, 'no-store', undefined]);
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code });
    } finally {
      files.fetch = fetchFile;
    }
    expect((await ask(`/files/${key}`)).status).toBe(200);
  });
});
