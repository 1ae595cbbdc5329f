import { sql } from 'kysely';
import { findSourcesWithoutVectors } from '../../../db/queries/knowledge/knowledgePassages.ts';
import { replacePassages } from '../../../runtime/knowledge/passages.ts';
import { fuseFindings, searchKnowledge } from '../../../runtime/knowledge/search.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../../support/servers/embeddingServer.ts';
import { rejection } from '../models/support.ts';
import { countVectors, embedAll, passagesOf, type Shelf, shelfOf } from './searchSetting.ts';

let setting: TestDatabase;
let server: EmbeddingServer;
let workspace: SeededWorkspace;
let shelf: Shelf;

const MODEL = 'openai/text-embedding-3-small';

beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());
beforeEach(async () => {
  server = await startEmbeddingServer();
  server.meanings = [
    ['car', 'automobile', 'vehicle'],
    ['refund', 'reimbursement', 'money'],
  ];
  workspace = await setting.seedWorkspace();
  shelf = shelfOf(workspace, server.settings());
});
afterEach(() => server.close());

describe('with a model for embeddings', () => {
  test('a passage is found by what it means', async () => {
    const source = await shelf.add(['The automobile is parked.', 'The bread is baked.', 'The letter is sent.']);
    expect((await shelf.find('car', [source]))[0]).toBe('The automobile is parked.');
    // Words alone know nothing of it.
    expect(await shelfOf(workspace).find('car', [source])).toEqual([]);
  });

  test('the heading belongs to the meaning', async () => {
    const source = await shelf.add([
      { content: 'Ask at the desk.', heading: 'Bread' },
      { content: 'Ask at the desk.', heading: 'Vehicle' },
    ]);
    expect(await shelf.search('car', [source])).toMatchObject([{ seq: 1 }, { seq: 0 }]);
    expect(server.requests[0]?.texts).toEqual(['Bread\nAsk at the desk.', 'Vehicle\nAsk at the desk.']);
  });

  test('a passage that both searches find comes before passages that one finds', async () => {
    const source = await shelf.add([
      'The vehicle, a vehicle.',
      'A car is an automobile.',
      'The scar of a carpet.',
      'Bread.',
    ]);
    const [first] = await shelf.search('car', [source]);
    expect(first).toMatchObject({ seq: 1 });
  });

  test('each hit says how both searches ranked it', async () => {
    const source = await shelf.add(['A car is an automobile.', 'The vehicle.', 'Bread.']);
    const { query, hits } = await searchKnowledge(shelf, { query: 'car', sourceIds: [source], limit: 3 });
    expect(query).toBe('car');
    expect(hits).toMatchObject([
      { seq: 0, byWords: { rank: 1 }, byMeaning: { rank: expect.any(Number) } },
      { byWords: null },
      { byWords: null },
    ]);
    const cosines = hits.map(({ byMeaning }) => byMeaning?.score ?? 0);
    expect(Math.max(...cosines)).toBeLessThanOrEqual(1.0001);
    expect(hits.find(({ seq }) => seq === 2)?.byMeaning).toMatchObject({ rank: 3 });
    expect(hits[0]?.byWords?.score).toBeGreaterThan(0);
  });

  test.each([
    ['all-minilm:33m', 'rimborso', 'words'],
    ['all-minilm:33m', 'il rimborso che è della signora', 'words'],
    ['all-minilm:33m', 'the rimborso that is for the lady', 'meaning'],
    ['paraphrase-multilingual', 'rimborso', 'meaning'],
  ])(
    'a model that is known for English only does not overrule the words of another language: %s, %s: %s',
    async (modelId, query, first) => {
      server.meanings = [['rimborso', 'denaro']];
      const models = server.settings({ embeddings: { provider: 'openai-compatible', modelId } });
      const italian = shelfOf(workspace, models);
      const source = await italian.add([
        'Il denaro.',
        'Il rimborso è per chi non ha più la carta, e si trova con la lettera nella busta che è sul tavolo della segreteria.',
      ]);
      const [best] = await italian.search(query, [source]);
      expect(best?.seq).toBe(first === 'words' ? 1 : 0);
    },
  );

  test('only given and processed sources of the workspace are searched', async () => {
    const source = await shelf.add(['The automobile.']);
    const other = await shelf.add(['The vehicle.']);
    const stranger = shelfOf(await setting.seedWorkspace(), server.settings());
    expect(await shelf.find('car', [source])).toEqual(['The automobile.']);
    expect(await stranger.find('car', [source, other])).toEqual([]);
    await workspace.db
      .updateTable('knowledge_sources')
      .set({ deleted_at: new Date() })
      .where('id', '=', source)
      .execute();
    await workspace.db
      .updateTable('knowledge_sources')
      .set({ processing_status: 'PROCESSING' })
      .where('id', '=', other)
      .execute();
    expect(await shelf.find('car', [source, other])).toEqual([]);
  });

  test('of many passages the nearest are found', async () => {
    const source = await shelf.add(
      Array.from({ length: 1200 }, (_, seq) =>
        seq === 777 ? 'An automobile.' : `Number ${seq} of the list of ${seq % 37}.`,
      ),
    );
    expect((await shelf.find('vehicle', [source], 3))[0]).toBe('An automobile.');
    expect(await countVectors(shelf, source)).toBe(1200);
  });

  test('values that are almost 0 are compared, and their product is no underflow', async () => {
    server.first = 1e-30;
    const source = await shelf.add(['The automobile.', 'Bread.']);
    expect((await shelf.find('vehicle', [source]))[0]).toBe('The automobile.');
    expect(shelf.warnings).toEqual([]);
  });

  test('a passage without words is found by its meaning', async () => {
    const source = await shelf.add(['The automobile.']);
    expect(await shelf.find('🎉', [source])).toEqual(['The automobile.']);
    expect(await shelf.find(`${'vehicle '.repeat(20_000)}`, [source])).toEqual(['The automobile.']);
  });
});

describe('when the search by words fails', () => {
  test('a search is by meaning alone, and that is logged', async () => {
    const source = await shelf.add(['The car.', 'The automobile.', 'Bread.']);
    const withoutWords = withFailing(shelf, /knowledge_terms/);
    expect(
      (await searchKnowledge(withoutWords, { query: 'vehicle', sourceIds: [source], limit: 2 })).hits,
    ).toHaveLength(2);
    expect(shelf.warnings).toMatchObject([{ message: 'knowledge could not be searched by words' }]);
  });
});

describe('when the model fails', () => {
  test('a search is by words alone, and that is logged', async () => {
    const source = await shelf.add(['The car.', 'The automobile.']);
    server.fallback = { status: 500, message: 'sk-proj-test0123456789abcdef is down' };
    expect(await shelf.find('car', [source])).toEqual(['The car.']);
    expect(shelf.warnings).toEqual([
      {
        message: 'knowledge could not be searched by meaning',
        err: expect.objectContaining({ code: 'MODEL_PROVIDER_ERROR' }),
      },
    ]);
    expect(String(shelf.warnings[0]?.err)).not.toContain('sk-proj');
    await server.close();
    expect(await shelf.find('car', [source])).toEqual(['The car.']);
    expect(await shelf.isIncomplete('nothing', [source])).toBe(true);
    server = await startEmbeddingServer();
  });

  test('passages are stored for the search by words, and vectors can be added later', async () => {
    server.fallback = { status: 500 };
    const source = await shelf.add(['The car.', 'The automobile.']);
    expect(shelf.warnings).toMatchObject([{ message: 'knowledge source has no vectors' }]);
    expect(await findSourcesWithoutVectors(setting.database.system, MODEL, 100)).toContainEqual({
      workspaceId: workspace.workspaceId,
      sourceId: source,
    });
    await rejection(embedAll(shelf, source));
    expect(await countVectors(shelf, source)).toBe(0);

    server.fallback = 'vectors';
    expect(await shelf.find('vehicle', [source])).toEqual([]);
    expect(await embedAll(shelf, source)).toBe('done');
    expect(await shelf.find('vehicle', [source])).toHaveLength(2);
    expect(await findSourcesWithoutVectors(setting.database.system, MODEL, 100)).not.toContainEqual(
      expect.objectContaining({ sourceId: source }),
    );
  });
});

describe('when the model changes', () => {
  test('vectors of another model or length are not compared', async () => {
    const source = await shelf.add(['The automobile.', 'A car.']);
    const other = shelfOf(
      workspace,
      server.settings({ embeddings: { provider: 'openai', modelId: 'text-embedding-4' } }),
    );
    expect(await other.find('vehicle', [source])).toEqual([]);
    expect(await other.find('car', [source])).toEqual(['A car.']);
    server.dimensions = 128;
    expect(await shelf.find('vehicle', [source])).toEqual([]);
    expect(await shelf.find('car', [source])).toEqual(['A car.']);
    expect(shelf.warnings).toEqual([]);
  });

  test('a source is taken up again when it is processed, or embedded', async () => {
    const first = await shelf.add(['The automobile.']);
    const second = await shelf.add(['A vehicle.']);
    const other = shelfOf(
      workspace,
      server.settings({ embeddings: { provider: 'openai', modelId: 'text-embedding-4' } }),
    );
    server.dimensions = 96;
    const fresh = await other.add(['My automobile.']);
    expect(await other.find('car', [first, second, fresh])).toEqual(['My automobile.']);
    await replacePassages(other, first, passagesOf(['The automobile.']));
    expect(await embedAll(other, first)).toBe('done');
    expect(await embedAll(other, second)).toBe('done');
    expect((await other.find('car', [first, second, fresh])).toSorted()).toEqual([
      'A vehicle.',
      'My automobile.',
      'The automobile.',
    ]);
    const { rows } = await countOfModels();
    expect(rows).toEqual([{ model: 'openai/text-embedding-4', dimensions: 96, sources: 3 }]);
  });

  test('a source without passages, or deleted, gets no vectors', async () => {
    const empty = await shelf.add([]);
    const deleted = await shelf.add(['A car.'], { deleted_at: new Date() });
    expect(await embedAll(shelf, empty)).toBe('gone');
    expect(await embedAll(shelf, deleted)).toBe('gone');
    const waiting = await findSourcesWithoutVectors(setting.database.system, 'some/model', 1000);
    expect(waiting.map(({ sourceId }) => sourceId)).not.toContain(empty);
    expect(waiting.map(({ sourceId }) => sourceId)).not.toContain(deleted);
  });

  async function countOfModels() {
    const rows = await workspace.db
      .selectFrom('knowledge_embeddings')
      .select(({ fn }) => ['model', 'dimensions', fn.countAll<number>().as('sources')])
      .groupBy(['model', 'dimensions'])
      .execute();
    return { rows };
  }
});

describe('fuseFindings', () => {
  type Scores = Record<string, number>;
  const entries = (scores: Scores) => Object.entries(scores).map(([key, score]) => ({ key, score }));
  const fuse = (words: Scores, meaning: Scores = {}) =>
    fuseFindings(entries(words), entries(meaning), ({ key }) => key);
  const keys = (...lists: Parameters<typeof fuse>) => fuse(...lists).map(({ key }) => key);

  test('first in both is 1, and good in two is better than first in one', () => {
    expect(fuse({ a: 9, b: 4 }, { a: 0.8, c: 0.3 })[0]).toEqual({ key: 'a', score: 1 });
    expect(keys({ a: 9, c: 8, b: 2 }, { d: 0.8, c: 0.7, e: 0.2 })[0]).toBe('c');
  });

  test('meaning counts more than words', () => {
    expect(keys({ a: 9, b: 1 }, { c: 0.8, d: 0.7 }).slice(0, 2)).toEqual(['c', 'a']);
  });

  test('what both have far down does not beat what one has first', () => {
    const list = (name: string, score: (place: number) => number): Scores =>
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i === 30 ? 'both' : name + i, score(i)]));
    expect(
      keys(
        list('w', (i) => 10 - i / 5),
        list('m', (i) => 0.8 - i / 100),
      )[0],
    ).toBe('m0');
  });

  test('a search whose best passage stands out decides against one whose passages are all alike', () => {
    const alike = { m1: 0.803, m2: 0.802, m3: 0.801, word: 0.8015, m4: 0.8 };
    expect(keys({ word: 12, w2: 3, w3: 2 }, alike)[0]).toBe('word');
    expect(keys({ w1: 3.1, w2: 3, meaning: 2.9 }, { meaning: 0.9, m2: 0.4, m3: 0.3 })[0]).toBe('meaning');
  });

  test('the scale of a model is of no account', () => {
    const [wide, narrow] = [
      { a: 0.9, b: 0.5, c: 0.1 },
      { a: 0.83, b: 0.82, c: 0.81 },
    ];
    const words = { c: 5, b: 4, d: 1 };
    expect(keys(words, wide)).toEqual(keys(words, narrow));
  });

  test('one list keeps its order, and no list gives no result', () => {
    expect(keys({ x: 3, y: 2, z: 2 })).toEqual(['x', 'y', 'z']);
    expect(keys({}, { x: 0.3, y: 0.2 })).toEqual(['x', 'y']);
    expect(fuse({ x: 2 }, { x: 0.5 })).toEqual([{ key: 'x', score: 1 }]);
    expect(fuse({})).toEqual([]);
  });
});

/** The shelf, with a database in which a function is missing for statements that match. */
function withFailing(shelf: Shelf, statement: RegExp): Shelf {
  const plugin = {
    transformQuery: <T extends { node: unknown }>({ node }: T) => {
      const text = (node as { sqlFragments?: readonly string[] }).sqlFragments?.join('') ?? '';
      return statement.test(text) ? sql`select no_such_function()`.toOperationNode() : node;
    },
    transformResult: async <T extends { result: unknown }>({ result }: T) => result,
  };
  return { ...shelf, db: shelf.db.withPlugin(plugin as never) };
}
