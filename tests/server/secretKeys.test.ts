import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretKeysFor } from '../../server/secretKeys.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-keys-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('configured keys are used as they are, and no file is made', async () => {
  const keys = [randomBytes(32)];
  expect(await secretKeysFor(keys, folder)).toBe(keys);
  expect(await readdir(folder)).toEqual([]);
});

test('without one the data folder keeps a key that only its owner can read', async () => {
  const dataDir = join(folder, 'data');
  const made = await secretKeysFor([], dataDir);
  expect(made[0]).toHaveLength(32);
  expect(await secretKeysFor([], dataDir)).toEqual(made);
  expect(await readdir(dataDir)).toEqual(['secrets.key']);
  expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
});

test('two that start at once have the same key', async () => {
  const rings = await Promise.all([1, 2, 3, 4].map(() => secretKeysFor([], folder)));
  expect(new Set(rings.map(([key]) => key?.toString('hex'))).size).toBe(1);
});

test('an emptied key file is not replaced: what was sealed with it would be lost without a word', async () => {
  await secretKeysFor([], folder);
  await truncate(join(folder, 'secrets.key'));
  await expect(secretKeysFor([], folder)).rejects.toThrow('is empty');
});
