import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { makeTemporaryFolder, removeLeftovers } from '../../core/temporary.ts';

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'guildhall-temporary-')), 'tmp');
});
afterEach(() => rm(join(dir, '..'), { recursive: true }));

test('a temporary folder is for its owner alone', async () => {
  const folder = await makeTemporaryFolder(dir);
  expect([(await stat(dir)).mode & 0o777, (await stat(folder)).mode & 0o777]).toEqual([0o700, 0o700]);
});

test('leftovers of an hour ago are removed, and nothing else', async () => {
  const aged = async (path: string, hours: number) => {
    await writeFile(join(path, 'file'), 'x');
    const then = Date.now() / 1000 - hours * 3600;
    await utimes(path, then, then);
    return basename(path);
  };
  await aged(await makeTemporaryFolder(dir), 1.1);
  const young = await aged(await makeTemporaryFolder(dir), 0.9);
  const other = await aged(await mkdtemp(join(dir, 'other-')), 5);
  await removeLeftovers(dir);
  expect((await readdir(dir)).sort()).toEqual([other, young].sort());
});

test('of a service that never ran there are no leftovers', async () => {
  await expect(removeLeftovers(join(dir, 'absent'))).resolves.toBeUndefined();
});
