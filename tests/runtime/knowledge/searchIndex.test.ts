import { type Kysely, sql } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';
import { indexStoredPassages } from '../../../runtime/knowledge/indexStored.ts';
import { replacePassages } from '../../../runtime/knowledge/passages.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { passagesOf, type Shelf, shelfOf } from './searchSetting.ts';

let setting: TestDatabase;
let workspace: SeededWorkspace;
let shelf: Shelf;

beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());
beforeEach(async () => {
  workspace = await setting.seedWorkspace();
  shelf = shelfOf(workspace);
});

/** Empties the list, and tells how many pages it had. */
const WAITING = "select gin_clean_pending_list('knowledge_passages_words')::text as pages";

/** The words with their counts as they are kept, and as counting would have them. */
async function wordCounts({ db }: { db: Kysely<DB> }) {
  const { rows: kept } = await sql<{ word: string; passages: number }>`
    select word, passages from knowledge_words order by word`.execute(db);
  const { rows: counted } = await sql<{ word: string; passages: number }>`
    select word, count(*)::int as passages
    from knowledge_passages cross join unnest(tsvector_to_array(words) || array['']) word
    where word not like '~%' group by word order by word collate "C"`.execute(db);
  return { kept, counted };
}

async function expectRightCounts(): Promise<void> {
  const { kept, counted } = await wordCounts(workspace);
  expect(kept).toEqual(counted);
}

describe('replacePassages', () => {
  test('stores the passages and replaces all earlier ones', async () => {
    const source = await shelf.add([
      { content: 'Zebras graze.', heading: 'Animals › Hoofed', page: 3 },
      'Lions sleep.',
    ]);
    const stored = () =>
      workspace.db
        .selectFrom('knowledge_passages')
        .select(['seq', 'heading', 'page', 'content'])
        .where('source_id', '=', source)
        .orderBy('seq')
        .execute();
    expect(await stored()).toEqual([
      { seq: 0, heading: 'Animals › Hoofed', page: 3, content: 'Zebras graze.' },
      { seq: 1, heading: null, page: null, content: 'Lions sleep.' },
    ]);
    await replacePassages(shelf, source, passagesOf(['Tigers swim.']));
    expect(await stored()).toEqual([{ seq: 0, heading: null, page: null, content: 'Tigers swim.' }]);
    expect(await shelf.find('zebras', [source])).toEqual([]);
    expect(await shelf.find('tigers', [source])).toEqual(['Tigers swim.']);
    await replacePassages(shelf, source, []);
    expect(await stored()).toEqual([]);
    expect((await wordCounts(workspace)).kept).toEqual([]);
  });

  test('storing the same passages again changes nothing', async () => {
    const source = await shelf.add(['Zebras graze.', 'Zebras run.']);
    const before = await wordCounts(workspace);
    await replacePassages(shelf, source, passagesOf(['Zebras graze.', 'Zebras run.']));
    expect(await wordCounts(workspace)).toEqual(before);
  });

  test('counts the words of all sources', async () => {
    const one = await shelf.add(['red green', 'green blue', 'Écru écru ecru']);
    await shelf.add([{ content: 'blue', heading: 'blue' }]);
    await expectRightCounts();
    expect((await wordCounts(workspace)).kept).toEqual([
      { word: '', passages: 4 },
      { word: 'blue', passages: 2 },
      { word: 'ecru', passages: 1 },
      { word: 'green', passages: 2 },
      { word: 'red', passages: 1 },
    ]);
    await replacePassages(shelf, one, passagesOf(['green', 'yellow']));
    await expectRightCounts();
  });

  test('stores nothing for a source that is deleted or gone, and removes what a deleted one had', async () => {
    const source = await shelf.add(['Zebras graze.']);
    await workspace.db
      .updateTable('knowledge_sources')
      .set({ deleted_at: new Date() })
      .where('id', '=', source)
      .execute();
    await replacePassages(shelf, source, passagesOf(['Tigers swim.']));
    await replacePassages(shelf, newId(), passagesOf(['Tigers swim.']));
    const contents = () => workspace.db.selectFrom('knowledge_passages').select('content').execute();
    expect(await contents()).toEqual([{ content: 'Zebras graze.' }]);
    await replacePassages(shelf, source, []);
    expect(await contents()).toEqual([]);
    await expectRightCounts();
  });

  test('stores nothing for another workspace', async () => {
    const stranger = await setting.seedWorkspace();
    const source = await shelf.add(['Zebras graze.']);
    await replacePassages(shelfOf(stranger), source, passagesOf(['Tigers swim.']));
    await replacePassages(shelfOf(stranger), source, []);
    expect(await shelf.find('zebras', [source])).toEqual(['Zebras graze.']);
    expect((await wordCounts(stranger)).kept).toEqual([]);
  });

  test('replacements of one source at one time leave the passages of one of them', async () => {
    const source = await shelf.add([]);
    const versions = Array.from({ length: 6 }, (_, version) =>
      Array.from({ length: 30 }, (_, seq) => `v${version} common passage${seq}`),
    );
    await Promise.all(versions.map((contents) => replacePassages(shelf, source, passagesOf(contents))));
    const found = await workspace.db.selectFrom('knowledge_passages').select('content').orderBy('seq').execute();
    expect(versions).toContainEqual(found.map(({ content }) => content));
    await expectRightCounts();
  });

  test('sources that are processed at one time do not hinder each other', async () => {
    const words = Array.from({ length: 300 }, (_, index) => `word${index}`);
    const contents = (turn: number) =>
      Array.from(
        { length: 40 },
        (_, seq) =>
          `${words
            .toSorted(() => ((seq * 7 + turn) % 3) - 1)
            .slice(0, 60)
            .join(' ')} ${turn}`,
      );
    const sources = await Promise.all(Array.from({ length: 6 }, (_, turn) => shelf.add(contents(turn))));
    await Promise.all(sources.map((source, turn) => replacePassages(shelf, source, passagesOf(contents(turn + 10)))));
    await expectRightCounts();
  });

  test('removing the row of a source removes its passages and words', async () => {
    const source = await shelf.add(['Zebras graze.']);
    await setting.database.system.deleteFrom('knowledge_sources').where('id', '=', source).execute();
    expect(await workspace.db.selectFrom('knowledge_passages').selectAll().execute()).toEqual([]);
  });

  test('leaves no words in the list of the index, which each search would read', async () => {
    const passages = passagesOf(Array.from({ length: 30 }, (_, seq) => `Passage ${seq} of laurel${seq}`));
    const source = await shelf.add([]);
    const waiting = () => adminQuery<{ pages: string }>(WAITING, setting.name);
    await replacePassages(shelf, source, passages);
    expect(await waiting()).toEqual([{ pages: '0' }]);
    await workspace.db.updateTable('knowledge_passages').set({ length: null }).execute();
    expect(await waiting()).not.toEqual([{ pages: '0' }]);
    await workspace.db.updateTable('knowledge_passages').set({ length: null }).execute();
    await indexStoredPassages({ db: workspace.db, workspaceId: workspace.workspaceId }, source);
    expect(await waiting()).toEqual([{ pages: '0' }]);
  });

  test('large sources are stored in pieces and found whole', async () => {
    const source = await shelf.add(Array.from({ length: 1300 }, (_, seq) => `Passage ${seq} of läurel${seq}`));
    for (const seq of [0, 499, 500, 1299]) {
      expect((await shelf.search(`laurel${seq}`, [source], 1))[0]).toMatchObject({ seq });
    }
    await expectRightCounts();
  });
});
