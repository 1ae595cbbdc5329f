import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { jest } from '@jest/globals';
import { pino } from 'pino';
import { newId } from '../../core/ids.ts';
import type { FileStore } from '../../integrations/storage/storage.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import {
  processKnowledgeSource as job,
  processSlowKnowledgeSource as slowJob,
} from '../../jobs/processKnowledgeSource.ts';
import { EXTRACT_LIMITS } from '../../runtime/knowledge/extract.ts';
import { processSource } from '../../runtime/knowledge/process.ts';
import { startTestApp, type TestApp, TestClock } from '../support/http/app.ts';
import { makePdf, makeSource, ownReaders, readSource, uploadSource } from '../support/knowledge/knowledge.ts';
import { poll } from '../support/poll.ts';

/** The job without the queue; knowledgeQueue.test.ts has it with the queue. */

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const dataOf = (sourceId: string) => ({ workspaceId: app.workspace.workspaceId, sourceId });
const contextOf = (signal = new AbortController().signal): JobContext => ({
  database: app.database.database,
  runtime: app.service.runtime,
  clock,
  logger: pino({ level: 'silent' }),
  jobs: app.service.queue,
  signal,
});
const run = (id: string, signal?: AbortSignal) => job.run(dataOf(id), contextOf(signal));
const swept = async () => (await job.sweep(contextOf())).due.map(({ sourceId }) => sourceId);
const fileOf = (id: string) => join(app.dataDir, 'files', app.workspace.workspaceId, 'knowledge', id);
const fileExists = async (id: string) => (await readdir(join(fileOf(id), '..'))).includes(id);
const passagesOf = (id: string) =>
  app.workspace.db
    .selectFrom('knowledge_passages')
    .select(['seq', 'heading', 'page', 'content'])
    .where('source_id', '=', id)
    .orderBy('seq')
    .execute();
const rowOf = (id: string) =>
  app.workspace.db.selectFrom('knowledge_sources').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const change = (id: string, columns: object) =>
  app.workspace.db.updateTable('knowledge_sources').set(columns).where('id', '=', id).execute();

/** Long enough for the test to act while it is read. */
const LONG_TEXT = '返金は三十日以内に可能です。'.repeat(40_000);

test('a text becomes passages, and the source has the time', async () => {
  const source = await makeSource(app, { textContent: '# Refunds\nWithin 30 days.\n\n# Shipping\nOn weekdays.' });
  clock.advance(1000);
  await run(source.publicId);
  const now = clock.now().toISOString();
  expect(await readSource(app, source.publicId)).toEqual({
    ...source,
    processingStatus: 'COMPLETED',
    lastProcessedAt: now,
    updatedAt: now,
  });
  expect(await passagesOf(source.publicId)).toEqual([
    { seq: 0, heading: 'Refunds', page: null, content: 'Within 30 days.' },
    { seq: 1, heading: 'Shipping', page: null, content: 'On weekdays.' },
  ]);
});

test('a file becomes passages with their pages', async () => {
  const source = await uploadSource(
    app,
    await makePdf([{ paragraphs: ['One.'] }, { heading: 'B', paragraphs: ['Two.'] }]),
    'a.pdf',
  );
  await run(source.publicId);
  expect(await passagesOf(source.publicId)).toEqual([
    { seq: 0, heading: null, page: 1, content: 'One.' },
    { seq: 1, heading: 'B', page: 2, content: 'Two.' },
  ]);
});

test.each([
  ['an empty file', 'a.txt', () => '', /^The file is empty/],
  ['a PDF with a password', 'a.pdf', () => makePdf([{}], { userPassword: 'x', pdfVersion: '1.7' }), /password/],
  ['a PDF of pictures', 'a.pdf', () => makePdf([{ picture: true }]), /only pictures/],
  [
    'a text whose encoding cannot be told',
    'a.txt',
    () => Buffer.from('ffb0c3f5a09fe8d28b91ddc7', 'hex'),
    /save it as utf-8/i,
  ],
])('%s fails at once, and says why', async (_what, name, content, message) => {
  const source = await uploadSource(app, await content(), name);
  await run(source.publicId);
  const { processingStatus, errorMessage, lastProcessedAt } = await readSource(app, source.publicId);
  expect([processingStatus, lastProcessedAt]).toEqual(['FAILED', clock.now().toISOString()]);
  expect(errorMessage).toMatch(message);
  expect(await passagesOf(source.publicId)).toEqual([]);
  expect(await swept()).not.toContain(source.publicId);
});

test('a second run has the same result, and a finished source is not touched', async () => {
  const source = await makeSource(app, { textContent: 'One sentence that is here. '.repeat(500) });
  await run(source.publicId);
  const first = await passagesOf(source.publicId);
  expect(first.length).toBeGreaterThan(3);
  // As if the process had been killed after it wrote the passages.
  await change(source.publicId, { processing_status: 'PROCESSING' });
  await run(source.publicId);
  expect(await passagesOf(source.publicId)).toEqual(first);
  const done = await readSource(app, source.publicId);
  clock.advance(1000);
  await run(source.publicId);
  expect(await readSource(app, source.publicId)).toEqual(done);
});

test('a fault of the service is retried; after the last run the source says so', async () => {
  const source = await makeSource(app);
  await rm(fileOf(source.publicId));
  await expect(run(source.publicId)).rejects.toThrow(/There is no file/);
  expect(await readSource(app, source.publicId)).toMatchObject({ processingStatus: 'PENDING', errorMessage: null });
  expect(await swept()).toContain(source.publicId);
  await job.failed?.(dataOf(source.publicId), contextOf());
  const { processingStatus, errorMessage } = await readSource(app, source.publicId);
  expect([processingStatus, errorMessage]).toEqual(['FAILED', expect.stringMatching(/fault of the service/)]);
  expect(await swept()).not.toContain(source.publicId);
});

test('a source that crashes the process every time is given up', async () => {
  const source = await makeSource(app);
  await change(source.publicId, { processing_status: 'PROCESSING', attempts: 10 });
  await run(source.publicId);
  expect(await readSource(app, source.publicId)).toMatchObject({
    processingStatus: 'FAILED',
    errorMessage: expect.stringMatching(/fault of the service/),
  });
});

test('a run that the stop of the service interrupts does not count, and leaves no file behind', async () => {
  const source = await uploadSource(app, LONG_TEXT, 'a.txt');
  const stopping = new AbortController();
  const running = run(source.publicId, stopping.signal);
  const [reader] = await poll(ownReaders, (found) => found.length > 0);
  const folder = dirname(reader?.path ?? '');
  expect(dirname(folder)).toBe(join(app.dataDir, 'tmp'));
  expect(await readdir(folder)).toEqual(['source']);
  expect(await readSource(app, source.publicId)).toMatchObject({ processingStatus: 'PROCESSING' });
  stopping.abort(new Error('The service is stopping.'));
  await expect(running).rejects.toThrow('The service is stopping.');
  expect(await rowOf(source.publicId)).toMatchObject({ processing_status: 'PENDING', attempts: 0 });
  expect(await swept()).toContain(source.publicId);
  expect(existsSync(folder)).toBe(false);
});

test('a source that is deleted while it is read is removed, with its file and its passages', async () => {
  const source = await uploadSource(app, LONG_TEXT, 'a.txt');
  const running = run(source.publicId);
  await poll(
    () => readSource(app, source.publicId),
    ({ processingStatus }) => processingStatus === 'PROCESSING',
  );
  expect((await app.api('delete', `/knowledge-sources/${source.publicId}`)).status).toBe(204);
  await running;
  expect(await passagesOf(source.publicId)).toEqual([]);
  expect(await fileExists(source.publicId)).toBe(false);
  const row = await rowOf(source.publicId);
  expect([row.processing_status, row.last_processed_at, row.purged_at]).toEqual(['PROCESSING', null, clock.now()]);
  expect(await swept()).not.toContain(source.publicId);
});

test('the remains of a source are removed when the process was killed while it stored it', async () => {
  const { files } = app.service.runtime;
  const put = files.put.bind(files);
  let cutOff = '';
  jest.spyOn(files, 'put').mockImplementationOnce(async (key, source) => {
    await put(key, source);
    cutOff = basename(key);
    throw new Error('killed');
  });
  const answer = await app.api('post', '/knowledge-sources').send({ name: 'Cut off', textContent: 'Hello.' });
  expect([answer.status, (await app.api('get', `/knowledge-sources/${cutOff}`)).status]).toEqual([500, 404]);
  // Another process may still be storing it.
  clock.advance(14 * 60_000);
  expect(await swept()).not.toContain(cutOff);
  clock.advance(60_000);
  expect(await swept()).toContain(cutOff);
  expect(await fileExists(cutOff)).toBe(true);
  await run(cutOff);
  expect([await fileExists(cutOff), await swept()]).toEqual([false, expect.not.arrayContaining([cutOff])]);
});

test('the file and the passages of a deleted source are removed, once', async () => {
  const source = await makeSource(app);
  await run(source.publicId);
  await app.api('delete', `/knowledge-sources/${source.publicId}`);
  expect(await swept()).toContain(source.publicId);
  expect(await fileExists(source.publicId)).toBe(true);
  await run(source.publicId);
  expect([await fileExists(source.publicId), await passagesOf(source.publicId)]).toEqual([false, []]);
  expect(await swept()).not.toContain(source.publicId);
  await run(source.publicId);
});

test('a run that a later one has overtaken does not write its result', async () => {
  const source = await uploadSource(app, LONG_TEXT, 'a.txt');
  const running = run(source.publicId);
  await poll(
    () => readSource(app, source.publicId),
    ({ processingStatus }) => processingStatus === 'PROCESSING',
  );
  await change(source.publicId, { attempts: 2 });
  await running;
  expect(await rowOf(source.publicId)).toMatchObject({ processing_status: 'PROCESSING', last_processed_at: null });
  await change(source.publicId, { processing_status: 'COMPLETED', last_processed_at: clock.now() });
});

test('the sweep finds the unfinished sources of every workspace, and no finished ones', async () => {
  const mine = await makeSource(app);
  const theirs = await makeSource(app, {}, app.stranger.apiKey);
  const { due: found } = await job.sweep(contextOf());
  expect(found).toContainEqual(dataOf(mine.publicId));
  expect(found).toContainEqual({ workspaceId: app.stranger.workspaceId, sourceId: theirs.publicId });
  await run(mine.publicId);
  expect(await swept()).not.toContain(mine.publicId);
});

test('a source of another workspace or one that does not exist is not processed', async () => {
  const theirs = await makeSource(app, {}, app.stranger.apiKey);
  await run(theirs.publicId);
  await run(newId());
  expect(await readSource(app, theirs.publicId, app.stranger.apiKey)).toEqual(theirs);
});

describe('a source that takes longer to read than the first attempt', () => {
  const attempt = (id: string, lane: 'first' | 'slow', timeMs: number, runtime = app.service.runtime) => {
    const { database, ...context } = contextOf();
    const { workspaceId } = app.workspace;
    const limits = { ...EXTRACT_LIMITS, timeMs };
    const db = database.forWorkspace(workspaceId);
    return processSource({ ...context, db, workspaceId, runtime, limits }, id, lane);
  };
  const slowSwept = async () => (await slowJob.sweep(contextOf())).due.map(({ sourceId }) => sourceId);

  test('goes on in the slow lane, and is then no longer of the first one', async () => {
    const { publicId } = await uploadSource(app, LONG_TEXT, 'a.txt');
    expect(await attempt(publicId, 'first', 50)).toBe('slow');
    expect(await rowOf(publicId)).toMatchObject({ processing_status: 'PENDING', is_slow: true, attempts: 0 });
    expect(await swept()).not.toContain(publicId);
    expect(await slowSwept()).toContain(publicId);
    // A job of the first lane that was queued meanwhile leaves it alone.
    expect(await job.run(dataOf(publicId), contextOf())).toBeUndefined();
    expect(await rowOf(publicId)).toMatchObject({ processing_status: 'PENDING' });
    await slowJob.run(dataOf(publicId), contextOf());
    expect(await rowOf(publicId)).toMatchObject({ processing_status: 'COMPLETED' });
    expect((await passagesOf(publicId)).length).toBeGreaterThan(1);
  });

  test('fails when it takes longer than the slow lane gives it', async () => {
    const { publicId } = await uploadSource(app, LONG_TEXT, 'a.txt');
    await attempt(publicId, 'first', 50);
    expect(await attempt(publicId, 'slow', 50)).toBe('done');
    const failed = await readSource(app, publicId);
    expect(failed).toMatchObject({ processingStatus: 'FAILED', errorMessage: expect.stringMatching(/takes too long/) });
    expect(await slowSwept()).not.toContain(publicId);
  });

  test('is purged by the attempt during which it is deleted', async () => {
    const { publicId } = await uploadSource(app, LONG_TEXT, 'a.txt');
    const { runtime } = app.service;
    const files: FileStore = {
      put: (key, source) => runtime.files.put(key, source),
      delete: (key) => runtime.files.delete(key),
      fetch: async (key, path) => {
        await runtime.files.fetch(key, path);
        await app.api('delete', `/knowledge-sources/${publicId}`).expect(204);
      },
    };
    const deleting = new Proxy(runtime, {
      get: (target, name) => (name === 'files' ? files : Reflect.get(target, name, target)),
    });
    expect(await attempt(publicId, 'first', 50, deleting)).toBe('slow');
    expect(await fileExists(publicId)).toBe(false);
  });

  test('is purged in the first lane when it is deleted', async () => {
    const { publicId } = await uploadSource(app, LONG_TEXT, 'a.txt');
    await attempt(publicId, 'first', 50);
    await app.api('delete', `/knowledge-sources/${publicId}`);
    expect(await slowSwept()).not.toContain(publicId);
    expect(await swept()).toContain(publicId);
    await run(publicId);
    expect(await fileExists(publicId)).toBe(false);
  });
});
