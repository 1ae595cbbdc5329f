import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { secretKeysFor } from '../../server/secretKeys.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-keys-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('configured keys are used as they are, and no file is made', async () => {
  const keys = [randomBytes(32)];
  expect(secretKeysFor(keys, folder).load()).toBe(keys);
  expect(await readdir(folder)).toEqual([]);
});

test('without one the data folder keeps a key that only its owner can read', async () => {
  const dataDir = join(folder, 'data');
  const made = secretKeysFor([], dataDir).load();
  expect(made[0]).toHaveLength(32);
  expect(secretKeysFor([], dataDir).load()).toEqual(made);
  expect(await readdir(dataDir)).toEqual(['secrets.key']);
  expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
});

test('processes that come at once have the same key', async () => {
  const script = `import { secretKeysFor } from ${JSON.stringify(join(import.meta.dirname, '../../server/secretKeys.ts'))};
    console.log(secretKeysFor([], ${JSON.stringify(folder)}).load()[0].toString('hex'));`;
  const run = promisify(execFile);
  const rings = await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', script])));
  expect(new Set(rings.map(({ stdout }) => stdout)).size).toBe(1);
  expect(rings[0]?.stdout).toMatch(/^[0-9a-f]{64}$/m);
});

test('a key is made when it is needed, and not before', async () => {
  const keys = secretKeysFor([], folder);
  expect(await readdir(folder)).toEqual([]);
  expect(keys.load()).toEqual(secretKeysFor([], folder).load());
});

const file = () => join(folder, 'secrets.key');
test.each([
  ['was emptied', () => writeFile(file(), ''), 'holds no key'],
  ['has something else in it', () => writeFile(file(), 'hunter2'), 'holds no key'],
  ['is a folder', () => mkdir(file()), 'cannot be read (EISDIR)'],
])(
  'a key file that %s fails the start and is not replaced: secrets sealed with it would be lost',
  async (_what, spoil, says) => {
    await spoil();
    const use = () => secretKeysFor([], folder);
    expect(use).toThrow(`${file()} ${says}. Put the key back, or set GUILDHALL_SECRETS_KEY.`);
    expect(await readdir(folder)).toEqual(['secrets.key']);
  },
);
