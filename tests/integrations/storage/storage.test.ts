import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderStore } from '../../../integrations/storage/folder.ts';
import { readStorageUrl, s3Store } from '../../../integrations/storage/s3.ts';
import { FileMissing, type FileStore } from '../../../integrations/storage/storage.ts';
import { type S3Server, startS3Server } from '../../support/servers/s3Server.ts';

/** What every store does, whatever it keeps files in. */

let here: string;
let s3: S3Server;
const stores: Record<string, FileStore> = {};

beforeAll(async () => {
  here = await mkdtemp(join(tmpdir(), 'guildhall-storage-test-'));
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret/with+signs=', sessionToken: 'a token' };
  s3 = await startS3Server('kept-files', 'eu-central-1', credentials);
  stores.folder = folderStore(join(here, 'store'));
  const env = {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
  };
  const url = `s3://kept-files/some/prefix?region=eu-central-1&endpoint=${encodeURIComponent(s3.endpoint)}`;
  stores.s3 = s3Store(readStorageUrl(url, env));
});
afterAll(async () => {
  await s3.close();
  await rm(here, { recursive: true });
});

describe.each(['folder', 's3'])('%s', (name) => {
  const store = () => stores[name] as FileStore;
  const local = (file: string) => join(here, `${name}-${file}`);

  /** What the store has under the key. */
  async function kept(key: string): Promise<Buffer> {
    await store().fetch(key, local('fetched'));
    return readFile(local('fetched'));
  }

  test('returns the stored bytes', async () => {
    const bytes = randomBytes(100_000);
    await store().put('workspace/knowledge/bytes', bytes);
    expect((await kept('workspace/knowledge/bytes')).equals(bytes)).toBe(true);
  });

  test('gives back a file, and leaves the file where it is', async () => {
    const bytes = randomBytes(3 * 1024 * 1024);
    await writeFile(local('given'), bytes);
    await store().put('workspace/knowledge/file', { path: local('given') });
    expect((await kept('workspace/knowledge/file')).equals(bytes)).toBe(true);
    expect((await readFile(local('given'))).equals(bytes)).toBe(true);
  });

  test('keeps an empty file', async () => {
    await writeFile(local('empty'), '');
    await store().put('empty-file', { path: local('empty') });
    await store().put('no-bytes', new Uint8Array());
    expect(await kept('empty-file')).toHaveLength(0);
    expect(await kept('no-bytes')).toHaveLength(0);
  });

  test('keeps what was put last', async () => {
    await store().put('replaced', Buffer.from('the first, which is longer'));
    await store().put('replaced', Buffer.from('the second'));
    expect((await kept('replaced')).toString()).toBe('the second');
  });

  test('keeps keys apart', async () => {
    await store().put('a/b', Buffer.from('1'));
    await store().put('a/b.c', Buffer.from('2'));
    await store().put('a/b.c.d', Buffer.from('3'));
    const found = [await kept('a/b'), await kept('a/b.c'), await kept('a/b.c.d')];
    expect(found.map(String)).toEqual(['1', '2', '3']);
  });

  test('has no file that was never put, or was deleted', async () => {
    await store().put('deleted', Buffer.from('x'));
    await store().delete('deleted');
    for (const key of ['deleted', 'never', 'never/in/a/folder']) {
      await expect(store().fetch(key, local('missing'))).rejects.toThrow(FileMissing);
      await expect(readFile(local('missing'))).rejects.toMatchObject({ code: 'ENOENT' });
    }
  });

  test('deleting a missing file does nothing', async () => {
    await expect(store().delete('never')).resolves.toBeUndefined();
    await expect(store().delete('never/in/a/folder')).resolves.toBeUndefined();
  });

  test('does not put a file that is not there', async () => {
    await expect(store().put('absent', { path: local('absent') })).rejects.toThrow();
    await expect(store().fetch('absent', local('missing'))).rejects.toThrow(FileMissing);
  });

  test.each([
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/../b',
    '.',
    'a/.',
    'a\\b',
    'a b',
    'a?b',
    'a%2fb',
    'ä',
    `a${'b'.repeat(500)}`,
  ])('takes no key %j', async (key) => {
    await expect(store().put(key, Buffer.from('x'))).rejects.toThrow(/key/);
    await expect(store().fetch(key, local('missing'))).rejects.toThrow(/key/);
    await expect(store().delete(key)).rejects.toThrow(/key/);
  });

  test('serves many at a time', async () => {
    const files = Array.from({ length: 10 }, (_, i) => ({ key: `many/${i}`, bytes: randomBytes(50_000) }));
    await Promise.all(files.map(({ key, bytes }) => store().put(key, bytes)));
    await Promise.all(files.map(({ key }, i) => store().fetch(key, local(`many-${i}`))));
    for (const [i, { bytes }] of files.entries()) expect((await readFile(local(`many-${i}`))).equals(bytes)).toBe(true);
  });
});
