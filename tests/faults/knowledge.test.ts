import { API_PREFIX } from '../../generated/operations.ts';
import { readers } from '../support/knowledge/knowledge.ts';
import { poll } from '../support/poll.ts';
import { demoFolder } from './demoFolder.ts';
import { call, cleanUp, json, startService } from './service.ts';

let env: NodeJS.ProcessEnv;
let key: string;
beforeEach(async () => {
  const demo = await demoFolder();
  key = demo.key;
  env = { GUILDHALL_DATA_DIR: demo.dataDir };
});
afterEach(cleanUp);

/** Takes a second to read, and longer to index. */
const LONG_TEXT = '返金は三十日以内に可能です。'.repeat(30_000);

async function uploadText(origin: string, key: string, text: string): Promise<{ publicId: string }> {
  const form = new FormData();
  form.append('file', new Blob([text], { type: 'text/plain' }), 'long.txt');
  const headers = { 'X-Api-Key': key };
  return json(fetch(`${origin}${API_PREFIX}/knowledge-sources`, { method: 'POST', headers, body: form }));
}

const statusOf = async (origin: string, key: string, id: string): Promise<string> =>
  (await json(call(origin, key, 'GET', `/knowledge-sources/${id}`))).processingStatus;

test('processing survives kill -9: the source that was being read is read again, and waiting ones are read, too', async () => {
  const first = await startService(env);
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push((await uploadText(first.origin, key, LONG_TEXT)).publicId);
  const statuses = (origin: string) => Promise.all(ids.map((id) => statusOf(origin, key, id)));
  await poll(
    () => statuses(first.origin),
    (found) => found.includes('PROCESSING') && found.includes('PENDING'),
  );
  first.child.kill('SIGKILL');
  expect(await first.ended).toEqual({ code: null, signal: 'SIGKILL' });

  const second = await startService(env);
  await poll(
    () => statuses(second.origin),
    (found) => found.every((status) => status === 'COMPLETED'),
  );
  second.child.kill('SIGTERM');
  expect(await second.ended).toEqual({ code: 0, signal: null });
});

test('a reader does not outlive the service that is killed', async () => {
  const service = await startService(env);
  await uploadText(service.origin, key, LONG_TEXT);
  const found = await poll(readers, (all) => all.some(({ parent }) => parent === String(service.child.pid)));
  const own = found.filter(({ parent }) => parent === String(service.child.pid)).map(({ pid }) => pid);
  service.child.kill('SIGKILL');
  await service.ended;
  await poll(readers, (all) => all.every(({ pid }) => !own.includes(pid)));
});

test('a source that is being read when the service stops is completed, then or after the next start', async () => {
  const first = await startService(env);
  const { publicId } = await uploadText(first.origin, key, LONG_TEXT);
  await poll(
    () => statusOf(first.origin, key, publicId),
    (status) => status === 'PROCESSING',
  );
  first.child.kill('SIGTERM');
  expect(await first.ended).toEqual({ code: 0, signal: null });
  const second = await startService(env);
  await poll(
    () => statusOf(second.origin, key, publicId),
    (status) => status === 'COMPLETED',
  );
});
