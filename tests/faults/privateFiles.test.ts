import { chmod, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { API_PREFIX } from '../../generated/operations.ts';
import { until } from '../support/poll.ts';
import { call, cleanUp, demoOf, freshFolder, json, startService } from './service.ts';

afterEach(cleanUp);

/** What others than this user may do with files of a folder, by their paths. Those that only this user may use are left out. */
async function openFiles(folder: string): Promise<Record<string, string>> {
  const open: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // A file that PostgreSQL or the service has removed meanwhile.
    const state = await stat(path).catch(() => undefined);
    if (state && (state.mode & 0o077) !== 0) open[relative(folder, path)] = (state.mode & 0o777).toString(8);
  }
  return open;
}

test('the service writes files for its user alone, as root and with a mask that forbids nothing', async () => {
  const dataDir = await freshFolder();
  const service = await startService({ GUILDHALL_DATA_DIR: dataDir }, [
    'sh',
    '-c',
    `umask 0; exec '${process.execPath}' server/main.ts`,
  ]);
  const { key } = demoOf(service);
  const form = new FormData();
  form.append('file', new Blob(['Orders can be sent back.'], { type: 'text/plain' }), 'policy.txt');
  const headers = { 'X-Api-Key': key };
  const url = `${service.origin}${API_PREFIX}/knowledge-sources`;
  const source = await json(fetch(url, { method: 'POST', headers, body: form }));
  await until(async () => {
    const { processingStatus } = await json(call(service.origin, key, 'GET', `/knowledge-sources/${source.publicId}`));
    return processingStatus === 'COMPLETED';
  });
  const configuration = { url: 'https://shop.example.com', secrets: { a: 'a secret' } };
  const tool = { name: 'shop', toolType: 'HTTP_REQUEST', configuration };
  await json(call(service.origin, key, 'POST', '/http-tools', tool));
  const names = await readdir(dataDir);
  expect(names).toEqual(expect.arrayContaining(['files', 'postgres', 'secrets.key', 'service.lock', 'tmp']));
  expect(await openFiles(dataDir)).toEqual({});
  // The account of PostgreSQL, which is another one for root, passes through by its group. Others do not, and neither may list it.
  const mode = (await stat(dataDir)).mode & 0o777;
  expect(mode.toString(8)).toBe(process.getuid?.() === 0 ? '710' : '700');

  // As earlier releases left it.
  await chmod(join(dataDir, 'files'), 0o755);
  service.child.kill('SIGTERM');
  await service.ended;
  await startService({ GUILDHALL_DATA_DIR: dataDir });
  expect(await openFiles(dataDir)).toEqual({});
});
