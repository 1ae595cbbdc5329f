import { shelfOf } from '../runtime/knowledge/searchSetting.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { makeSource, processed, readSource } from '../support/knowledge/knowledge.ts';
import { poll, until } from '../support/poll.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../support/servers/embeddingServer.ts';

let api: TestApp;
let server: EmbeddingServer;
const workers: TestApp[] = [];

beforeEach(async () => {
  api = await startTestApp();
  server = await startEmbeddingServer();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await api.close();
  await server.close();
});

const compatible = () => server.settings({ embeddings: { provider: 'openai-compatible', modelId: 'bge-m3' } });

async function startWorker(options: Parameters<typeof startTestApp>[0] = {}): Promise<TestApp> {
  const worker = await startTestApp({ database: api.database, jobs: true, ...options });
  workers.push(worker);
  return worker;
}

const embeddings = (sourceId: string, { db } = api.workspace) =>
  db.selectFrom('knowledge_embeddings').selectAll().where('source_id', '=', sourceId).executeTakeFirst();
const whole = (sourceId: string, workspace = api.workspace) =>
  poll(
    () => embeddings(sourceId, workspace),
    (row) => row?.completed_at != null,
  );

/** A text of so many passages, each of which begins with a name of its own. */
const longText = (name: string, passages: number) =>
  Array.from({ length: passages }, (_, seq) => `${name} ${seq}. ${'Words of a passage. '.repeat(70)}`).join('\n\n');

test('a source from before the model was configured gets its vectors at the next start', async () => {
  const before = await startWorker();
  const { body } = await before
    .api('post', '/knowledge-sources', api.workspace.apiKey)
    .send({ name: 'Old', textContent: 'About lamps.' });
  await poll(
    () => readSource(api, body.publicId),
    ({ processingStatus }) => processingStatus === 'COMPLETED',
  );
  await before.close();
  workers.length = 0;
  await startWorker({ models: server.settings() });
  expect(await whole(body.publicId)).toMatchObject({ model: 'openai/text-embedding-3-small' });
});

test('a source is found by its words while a slow model still works on it', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  server.decide = async () => {
    await gate;
    return 'vectors' as const;
  };
  const worker = await startWorker({ models: compatible() });
  const { publicId } = await makeSource(worker, {}, api.workspace.apiKey);
  expect(await processed(api, publicId)).toMatchObject({ processingStatus: 'COMPLETED' });
  expect((await embeddings(publicId))?.completed_at ?? null).toBeNull();
  open();
  await whole(publicId);
});

test('the vectors that a stopped process fetched are kept, and another one goes on', async () => {
  server.decide = (texts) => (texts.some((text) => text.startsWith('Lamp 40.')) ? 'silence' : 'vectors');
  const first = await startWorker({ models: compatible() });
  const { publicId } = await makeSource(first, { textContent: longText('Lamp', 60) }, api.workspace.apiKey);
  await until(() => server.requests.some(({ texts }) => texts.some((text) => text.startsWith('Lamp 40.'))));
  await first.close();
  workers.length = 0;
  expect(await embeddings(publicId)).toMatchObject({ embedded_to: 31, completed_at: null });
  delete server.decide;
  server.requests.length = 0;
  await startWorker({ models: compatible() });
  await whole(publicId);
  const again = server.requests.flatMap(({ texts }) => texts).filter((text) => text.startsWith('Lamp'));
  expect(again).toHaveLength(60 - 32);
});

test('fifty sources of one workspace do not keep the source of another waiting', async () => {
  const other = await api.database.seedWorkspace();
  const shelf = shelfOf(api.workspace);
  const greedy: string[] = [];
  for (let place = 0; place < 50; place += 1) greedy.push(await shelf.add([`Greedy ${place}.`]));
  const publicId = await shelfOf(other).add(['Modest.']);
  await startWorker({ models: compatible() });
  await whole(publicId, other);
  const texts = server.requests.flatMap(({ texts }) => texts);
  expect(texts.indexOf('Modest.')).toBeGreaterThanOrEqual(0);
  expect(texts.indexOf('Modest.')).toBeLessThanOrEqual(3);
  for (const sourceId of greedy) await whole(sourceId);
});
