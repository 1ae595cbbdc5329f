import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
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
  expect(secretKeysFor(keys, folder)).toBe(keys);
  expect(await readdir(folder)).toEqual([]);
});

test('without one the data folder keeps a key that only its owner can read', async () => {
  const dataDir = join(folder, 'data');
  const made = secretKeysFor([], dataDir);
  expect(made[0]).toHaveLength(32);
  expect(secretKeysFor([], dataDir)).toEqual(made);
  expect(await readdir(dataDir)).toEqual(['secrets.key']);
  expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
});

test('processes that come at once have the same key', async () => {
  const script = `import { secretKeysFor } from ${JSON.stringify(join(import.meta.dirname, '../../server/secretKeys.ts'))};
    console.log(secretKeysFor([], ${JSON.stringify(folder)})[0].toString('hex'));`;
  const run = promisify(execFile);
  const rings = await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', script])));
  expect(new Set(rings.map(({ stdout }) => stdout)).size).toBe(1);
  expect(rings[0]?.stdout).toMatch(/^[0-9a-f]{64}$/m);
});

test('an emptied key file is not replaced: what was sealed with it would be lost without a word', async () => {
  secretKeysFor([], folder);
  await truncate(join(folder, 'secrets.key'));
  expect(() => secretKeysFor([], folder)).toThrow('is empty');
});
