import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { makeBook, makeSource, processed, readSource, uploadSource } from '../support/knowledge/knowledge.ts';
import { poll } from '../support/poll.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ jobs: true });
});
afterAll(() => app.close());

const passagesOf = (id: string) =>
  app.workspace.db.selectFrom('knowledge_passages').select(['page', 'content']).where('source_id', '=', id).execute();

test('an added source is processed soon', async () => {
  const source = await makeSource(app);
  expect(await processed(app, source.publicId)).toMatchObject({ processingStatus: 'COMPLETED', errorMessage: null });
  expect(await passagesOf(source.publicId)).toEqual([
    { page: null, content: 'Orders can be sent back within 30 days.' },
  ]);
});

test('many sources at a time are all processed', async () => {
  const sources = await Promise.all(
    Array.from({ length: 12 }, (_, n) => makeSource(app, { textContent: `Text ${n}.` })),
  );
  for (const { publicId } of sources) expect((await processed(app, publicId)).processingStatus).toBe('COMPLETED');
});

test('two hundred pages of a PDF are searchable, each with its number', async () => {
  const source = await uploadSource(app, await makeBook(200), 'book.pdf');
  expect((await processed(app, source.publicId)).processingStatus).toBe('COMPLETED');
  const passages = await passagesOf(source.publicId);
  for (let page = 1; page <= 200; page += 1) {
    expect(passages.some((one) => one.page === page && one.content.includes(`marker${page} opens`))).toBe(true);
  }
});

test('a file that cannot be read is read only once', async () => {
  const { publicId } = await uploadSource(app, '', 'a.txt');
  expect(await processed(app, publicId)).toMatchObject({ processingStatus: 'FAILED' });
  const query = app.workspace.db.selectFrom('knowledge_sources').select('attempts').where('id', '=', publicId);
  expect(await query.executeTakeFirstOrThrow()).toEqual({ attempts: 1 });
});

test('a source that is renamed while it waits is processed', async () => {
  const { publicId } = await makeSource(app);
  await app.api('patch', `/knowledge-sources/${publicId}`).send({ name: 'Renamed' });
  expect(await processed(app, publicId)).toMatchObject({ processingStatus: 'COMPLETED', name: 'Renamed' });
  expect((await readSource(app, publicId)).name).toBe('Renamed');
});

test('the file and the passages of a deleted source are removed', async () => {
  const source = await makeSource(app);
  await processed(app, source.publicId);
  await app.api('delete', `/knowledge-sources/${source.publicId}`);
  const folder = join(app.dataDir, 'files', app.workspace.workspaceId, 'knowledge');
  await poll(
    () => readdir(folder),
    (names) => !names.includes(source.publicId), // when the job that processed it had not ended yet, the next sweep finds it
  );
  await poll(
    () => passagesOf(source.publicId),
    (found) => found.length === 0,
  );
});
