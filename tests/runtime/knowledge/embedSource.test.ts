import { systemClock } from '../../../core/clock.ts';
import { selectEmbeddingProgress } from '../../../db/queries/knowledge/knowledgeEmbeddings.ts';
import { findSourcesWithoutVectors } from '../../../db/queries/knowledge/knowledgePassages.ts';
import { embeddingModelKey } from '../../../runtime/knowledge/embeddingForms.ts';
import { type EmbeddingContext, embedSource } from '../../../runtime/knowledge/embedSource.ts';
import { replacePassages } from '../../../runtime/knowledge/passages.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../../support/servers/embeddingServer.ts';
import { rejection } from '../models/support.ts';
import { passagesOf, shelfOf } from './searchSetting.ts';

let setting: TestDatabase;
let server: EmbeddingServer;
let workspace: SeededWorkspace;

beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());
beforeEach(async () => {
  server = await startEmbeddingServer();
  workspace = await setting.seedWorkspace();
});
afterEach(() => server.close());

const compatible = (modelId = 'bge-m3') =>
  server.settings({ embeddings: { provider: 'openai-compatible', modelId }, retries: 0 });
const numbered = (count: number) => Array.from({ length: count }, (_, seq) => `Passage ${seq}.`);
/** A source that was read, and has no vectors yet. */
const stored = (count: number) => shelfOf(workspace).add(numbered(count));

function run(sourceId: string, models: ModelSettings, more: Partial<EmbeddingContext> = {}) {
  const { db, workspaceId } = workspace;
  return embedSource({ db, workspaceId, runtime: { models, clock: systemClock }, ...more }, sourceId);
}

async function progress(sourceId: string) {
  const [found] = await selectEmbeddingProgress(workspace.db, workspace.workspaceId, [sourceId]);
  if (!found) throw new Error('There is no such source.');
  return found;
}

const sentTexts = () => server.requests.splice(0).flatMap(({ texts }) => texts);

test('a server that fails in the middle is asked for the rest only, and what is there is searched by meaning', async () => {
  const source = await stored(100);
  const models = compatible();
  server.decide = (texts) => (texts.includes('Passage 70.') ? { status: 503 } : 'vectors');
  expect(await rejection(run(source, models))).toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
  expect(await progress(source)).toMatchObject({
    passages: 100,
    vectors: 64,
    completedAt: null,
    failure: expect.stringContaining('failed (503)'),
    failedAt: expect.any(Date),
  });
  const shelf = shelfOf(workspace, models);
  delete server.decide;
  expect(await shelf.find('passage', [source], 100)).toContain('Passage 63.');
  expect(shelf.warnings).toEqual([]);
  server.requests.length = 0;

  expect(await run(source, models)).toBe('done');
  expect(sentTexts()).toEqual(numbered(100).slice(64));
  expect(await progress(source)).toMatchObject({ vectors: 100, completedAt: expect.any(Date), failure: null });
  expect(await run(source, models)).toBe('done');
  expect(server.requests).toEqual([]);
});

test('a run that is stopped in the middle of a call loses that call', async () => {
  const source = await stored(100);
  const models = compatible();
  const stopped = new AbortController();
  const reason = new Error('The service stops.');
  server.decide = (texts) => {
    if (!texts.includes('Passage 70.')) return 'vectors';
    stopped.abort(reason);
    return 'silence';
  };
  expect(await rejection(run(source, models, { signal: stopped.signal }))).toBe(reason);
  expect(await progress(source)).toMatchObject({ vectors: 64, failure: null });
  delete server.decide;
  server.requests.length = 0;
  expect(await run(source, models)).toBe('done');
  expect(sentTexts()).toHaveLength(36);
});

test('a run ends after its time, and the next one goes on', async () => {
  const source = await stored(100);
  const models = compatible();
  const runs: string[] = [];
  for (let last = ''; last !== 'done'; runs.push(last)) last = await run(source, models, { sliceMs: 0 });
  expect(runs).toEqual(['more', 'more', 'more', 'done']);
  expect(sentTexts()).toEqual(numbered(100));
  expect(await progress(source)).toMatchObject({ vectors: 100, completedAt: expect.any(Date) });
});

test('of a source with more passages than are read at a time all get vectors', async () => {
  const source = await stored(700);
  const logged: unknown[] = [];
  const note = (fields: unknown) => void logged.push(fields);
  const logger = { info: note, warn: note } as unknown as NonNullable<EmbeddingContext['logger']>;
  expect(await run(source, server.settings(), { logger })).toBe('done');
  expect(await progress(source)).toMatchObject({ vectors: 700, refused: 0 });
  expect(logged).toEqual([{ sourceId: source, model: 'openai/text-embedding-3-small', passages: 700, refused: 0 }]);
});

test('a passage that the model refuses has no vector, and the others do', async () => {
  const source = await stored(40);
  server.decide = (texts) => (texts.includes('Passage 7.') ? { status: 500 } : 'vectors');
  const models = compatible();
  expect(await run(source, models)).toBe('done');
  expect(await progress(source)).toMatchObject({ passages: 40, vectors: 39, refused: 1 });
  expect(await waiting(models)).not.toContain(source);
});

test('a server that never answers fails the run, which the sweep finds again', async () => {
  const source = await stored(3);
  server.fallback = 'silence';
  const models = compatible();
  expect(await rejection(run(source, models, { timeoutMs: 50 }))).toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
  expect(await progress(source)).toMatchObject({ vectors: 0, failure: expect.any(String) });
  expect(await waiting(models)).toContain(source);
});

test('vectors of another model, or made with another prefix, are replaced', async () => {
  const source = await stored(5);
  expect(await run(source, compatible('bge-m3'))).toBe('done');
  const e5 = compatible('multilingual-e5-base');
  expect(await waiting(e5)).toContain(source);
  expect(await run(source, e5)).toBe('done');
  expect(await progress(source)).toMatchObject({
    vectors: 5,
    model: 'openai-compatible/multilingual-e5-base "passage: "',
  });
  const bare = compatible();
  bare.embeddings = { provider: 'openai-compatible', modelId: 'multilingual-e5-base', passagePrefix: '' };
  expect(await waiting(bare)).toContain(source);
});

test('a server that has another model by now makes the source begin anew', async () => {
  const source = await stored(50);
  const models = compatible();
  expect(await run(source, models, { sliceMs: 0 })).toBe('more');
  server.dimensions = 32;
  expect(await run(source, models)).toBe('more');
  expect(await progress(source)).toMatchObject({ vectors: 0 });
  expect(await run(source, models)).toBe('done');
  expect(await progress(source)).toMatchObject({ vectors: 50 });
});

test('two runs at a time store each vector once', async () => {
  const source = await stored(100);
  const models = server.settings();
  const ends = await Promise.all([run(source, models), run(source, models)]);
  expect(ends).toContain('done');
  expect(await progress(source)).toMatchObject({ vectors: 100, completedAt: expect.any(Date) });
});

test('passages that are replaced meanwhile do not get the vectors of the old ones', async () => {
  const source = await stored(40);
  const shelf = shelfOf(workspace);
  server.decide = async (texts) => {
    delete server.decide;
    await replacePassages(shelf, source, passagesOf(numbered(40).map((text) => `New. ${text}`)));
    return texts.length > 0 ? 'vectors' : 'silence';
  };
  const models = compatible();
  expect(await run(source, models)).toBe('gone');
  expect(await progress(source)).toMatchObject({ vectors: 0 });
  expect(await run(source, models)).toBe('done');
  expect(sentTexts().slice(-40)[0]).toBe('New. Passage 0.');
});

async function waiting({ embeddings }: ModelSettings): Promise<string[]> {
  if (!embeddings) return [];
  const found = await findSourcesWithoutVectors(setting.database.system, embeddingModelKey(embeddings), 1_000);
  return found.map(({ sourceId }) => sourceId);
}
