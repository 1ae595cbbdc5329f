import { systemClock } from '../../core/clock.ts';
import { embedSource } from '../../runtime/knowledge/embedSource.ts';
import { findGlobalModel } from '../../runtime/models/catalogue.ts';
import { HAIKU, LOCAL, publishedAgent, send } from '../http/messages/turns.ts';
import { type Shelf, shelfOf } from '../runtime/knowledge/searchSetting.ts';
import { agentWith, link } from '../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../support/servers/embeddingServer.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';

/* What an operator sees of a search where a model for embeddings is configured, and of what a provider's cache had. */

let models: ModelServer;
let embeddings: EmbeddingServer;
let app: TestApp;
let shelf: Shelf;
let source: string;

beforeAll(async () => {
  models = await startModelServer();
  embeddings = await startEmbeddingServer();
  embeddings.meanings = [['car', 'vehicle', 'automobile']];
  const { openai, embeddings: model } = embeddings.settings();
  const { openai: _, ...others } = models.settings();
  app = await startTestApp({ models: { ...others, ...(openai && { openai }), ...(model && { embeddings: model }) } });
  shelf = shelfOf(app.workspace, embeddings.settings());
  source = await shelf.add([
    'Bread is at the desk.',
    { content: 'The car is in the garage.', heading: 'Parking', page: 3 },
    'The vehicle, an automobile.',
  ]);
});
beforeEach(() => models.reset());
afterAll(async () => {
  await app.close();
  await embeddings.close();
  await models.close();
});

const rankOf = (by: { rank: number; score: number } | null) =>
  by && { rank: by.rank, score: expect.closeTo(by.score, 5) };

test('a turn keeps where each passage stood by words, by meaning and fused', async () => {
  const agentId = await agentWith(app, [{ kind: 'knowledge_source', id: source }], { aiModelPublicId: LOCAL });
  const { body } = await send(app, agentId, { content: 'car' }).expect(200);
  const hits = await shelf.search('car', [source], 6);
  const [turn] = await adminJson(app.database, 'turn', 'list', '--conversation', body.conversationId);
  const { steps } = await adminJson(app.database, 'turn', 'show', turn.turnPublicId);
  expect(steps[0].input.knowledge.passages).toEqual(
    hits.map(({ content: _, score, byWords, byMeaning, ...where }) => ({
      ...where,
      score: expect.closeTo(score, 5),
      byWords: rankOf(byWords),
      byMeaning: rankOf(byMeaning),
    })),
  );
  expect(hits[0]).toMatchObject({ seq: 1, byWords: { rank: 1 }, byMeaning: { rank: expect.any(Number) } });
  const { stdout } = await run(app.database, 'turn', 'show', turn.turnPublicId);
  expect(stdout).toMatch(
    /Handbook \S+\/1 \[Parking, page 3\]: by words 1\. \([\d.]+\), by meaning [12]\. \(0\.\d+\)\n/,
  );
  expect(stdout).toMatch(/Handbook \S+\/2: not by words, by meaning [12]\. \(0\.\d+\)\n/);
});

test('knowledge search shows the ranks by words, by meaning and fused, in what is published', async () => {
  const agentId = await agentWith(app, [{ kind: 'knowledge_source', id: source }], { aiModelPublicId: LOCAL });
  await link(app, agentId, 'knowledge_source', await shelf.add(['A car of the draft.']));
  const env = {
    DATABASE_URL: app.database.url,
    OPENAI_API_KEY: 'sk-proj-test0123456789abcdef',
    OPENAI_BASE_URL: `${embeddings.url}/v1`,
    GUILDHALL_EMBEDDING_MODEL: 'openai/text-embedding-3-small',
  };
  const found = await adminJson({ env }, 'knowledge', 'search', '--agent', agentId, 'car');
  expect(found).toMatchObject({ versionNumber: 1, sourcePublicIds: [source], isIncomplete: false });
  const hits = await shelf.search('car', [source], 6);
  const shown = found.hits.map(({ seq, score, byWords, byMeaning }: (typeof hits)[number]) => ({
    seq,
    score,
    byWords,
    byMeaning,
  }));
  expect(shown).toEqual(
    hits.map(({ seq, score, byWords, byMeaning }) => ({
      seq,
      score: expect.closeTo(score, 5),
      byWords: rankOf(byWords),
      byMeaning: rankOf(byMeaning),
    })),
  );
  const { stdout } = await run({ env }, 'knowledge', 'search', '--agent', agentId, 'car');
  expect(stdout).toMatch(
    /1\. Handbook, passage 1, page 3: score [\d.]+\n +Parking\n +by words +rank 1, score [\d.]+\n/,
  );
  expect(stdout).toMatch(/passage 2: score [\d.]+\n +by words +not found\n +by meaning +rank [12], score 0\.\d+\n/);
  expect(stdout).not.toContain('by words only');
});

test('a turn says what its provider had in the cache, what it put there, and what that cost', async () => {
  const agentId = await publishedAgent(app, { aiModelPublicId: HAIKU });
  models.script({ reply: 'Hello.', usage: { input: 5_000, output: 10, cached: 3_000, written: 1_500 } });
  const { body } = await send(app, agentId, { content: 'Hi' }).expect(200);
  const [turn] = await adminJson(app.database, 'turn', 'list', '--conversation', body.conversationId);
  const { steps } = await adminJson(app.database, 'turn', 'show', turn.turnPublicId);
  expect(steps).toMatchObject([{ inputTokens: 5_000, cachedInputTokens: 3_000, cacheWriteTokens: 1_500 }]);
  const model = findGlobalModel(models.settings(), HAIKU);
  if (!model) throw new Error('There is no such model.');
  const price = model.inputCostPer1MTokens;
  const cost = (500 * price + 3_000 * 0.1 * price + 1_500 * 1.25 * price + 10 * model.outputCostPer1MTokens) / 1e6;
  expect(steps[0].costUsd).toBeCloseTo(cost, 8);
  expect(turn.costUsd).toBeCloseTo(cost, 8);
  const { stdout } = await run(app.database, 'turn', 'show', turn.turnPublicId);
  expect(stdout).toContain('(of the input 3000 from the cache and 1500 into the cache), ended by stop');
});

test('the list of sources tells how far the vectors of one are that is under way', async () => {
  const { db, workspaceId } = app.workspace;
  const passages = Array.from({ length: 200 }, (_, place) => `Passage ${place}.`);
  const long = await shelfOf(app.workspace).add(passages, { name: 'Long' });
  const runtime = { models: embeddings.settings(), clock: systemClock };
  expect(await embedSource({ db, workspaceId, runtime, sliceMs: 0 }, long)).toBe('more');
  const { stdout } = await run(app.database, 'knowledge', 'list', '--workspace', workspaceId);
  expect(stdout).toMatch(/Long +COMPLETED +200 +96 of 200, under way\n/);
});
