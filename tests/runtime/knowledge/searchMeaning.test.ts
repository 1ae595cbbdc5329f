import { sql } from 'kysely';
import { findSourcesWithoutVectors } from '../../../db/queries/knowledge/knowledgePassages.ts';
import { fuseRanks } from '../../../runtime/knowledge/fusion.ts';
import { embedStoredPassages, replacePassages } from '../../../runtime/knowledge/passages.ts';
import { searchKnowledge } from '../../../runtime/knowledge/search.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../../support/servers/embeddingServer.ts';
import { rejection } from '../models/support.ts';
import { countVectors, passagesOf, type Shelf, shelfOf } from './searchSetting.ts';

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
    const withoutWords = withFailing(shelf, /knowledge_vocabulary/);
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
    expect(shelf.warnings).toMatchObject([{ message: 'knowledge source is stored without vectors' }]);
    expect(await findSourcesWithoutVectors(setting.database.system, MODEL, 100)).toContainEqual({
      workspaceId: workspace.workspaceId,
      sourceId: source,
    });
    await rejection(embedStoredPassages(shelf, source));
    expect(await countVectors(shelf, source)).toBe(0);

    server.fallback = 'vectors';
    expect(await shelf.find('vehicle', [source])).toEqual([]);
    expect(await embedStoredPassages(shelf, source)).toBe(true);
    expect(await shelf.find('vehicle', [source])).toHaveLength(2);
    expect(await findSourcesWithoutVectors(setting.database.system, MODEL, 100)).not.toContainEqual(
      expect.objectContaining({ sourceId: source }),
    );
  });

  test('aborted work stores nothing', async () => {
    const source = await shelf.add(['Before.']);
    server.fallback = 'silence';
    const controller = new AbortController();
    const work = rejection(replacePassages({ ...shelf, signal: controller.signal }, source, passagesOf(['After.'])));
    while (server.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('The service stops.');
    controller.abort(reason);
    expect(await work).toBe(reason);
    expect(await shelfOf(workspace).find('before after', [source])).toEqual(['Before.']);
    expect(shelf.warnings).toEqual([]);
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
    expect(await embedStoredPassages(other, second)).toBe(true);
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
    expect(await embedStoredPassages(shelf, empty)).toBe(false);
    expect(await embedStoredPassages(shelf, deleted)).toBe(false);
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

describe('fuseRanks', () => {
  const fuse = (...lists: string[][]) =>
    fuseRanks(
      lists.map((list) => list.map((key) => ({ key }))),
      ({ key }) => key,
    );

  test('first in every list is 1, and a place in two lists beats a better place in one', () => {
    expect(fuse(['a', 'b'], ['a', 'c'])[0]).toEqual({ key: 'a', score: 1 });
    expect(fuse(['a', 'b', 'c'], ['d', 'c', 'e']).map(({ key }) => key)).toEqual(['c', 'a', 'd', 'b', 'e']);
  });

  test('one list keeps its order, and no list gives no result', () => {
    expect(fuse(['x', 'y', 'z']).map(({ key }) => key)).toEqual(['x', 'y', 'z']);
    expect(fuse()).toEqual([]);
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
