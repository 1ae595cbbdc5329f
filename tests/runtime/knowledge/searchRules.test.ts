import { sql } from 'kysely';
import { termsOf } from '../../../runtime/knowledge/terms.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../../support/servers/embeddingServer.ts';
import { type Shelf, shelfOf } from './searchSetting.ts';

/* Rules of the ranking, each in passages that are equal but for what the rule says. Of equal passages the first one comes first. */

const ENGLISH = 'This is a text of the house, and it is in the language that you are to read with me.';
const FRENCH = 'Ceci est un texte de la maison, et il est dans la langue que vous avez à lire avec nous.';

let setting: TestDatabase;
let workspace: SeededWorkspace;
let shelf: Shelf;
beforeAll(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
  shelf = shelfOf(workspace);
});
afterAll(() => setting.drop());

const order = async (query: string, source: string) => (await shelf.search(query, [source])).map(({ seq }) => seq);

describe('the words of a text', () => {
  /** Those with a stem end with `~`. */
  const words = (text: string) => termsOf(text).map(({ word, stems }) => (stems ? `${word}~` : word));

  test.each([
    ["Puis-je venir ? J'ai", 'puis~ je~ venir~ ai~'],
    ["l'ordinateur, qu'est-ce, d'abord", 'ordinateur~ est~ ce~ abord~'],
    ["dell'anno, peut-on, dis-le-moi", 'anno~ peut~ on~ dis~ le~ moi~'],
    ["don't, it's", 'don~ t~ it~ s~'],
    ['add-on, e-mail', 'add~ on~ addon e~ mail~ email'],
  ])('have no clitic joined to a word, and compounds whole: %s', (text, expected) => {
    expect(words(text).join(' ')).toBe(expected);
  });

  test('that are codes and names have no stems', () => {
    expect(words('Print with CUPS on an iPhone, order A1234').join(' ')).toBe(
      'print~ with~ cups on~ an~ iphone order~ a1234',
    );
  });
});

test.each([true, false])(
  'a score is that of BM25 for as many places of a word as are kept, with stems: %s',
  async (stemmed) => {
    const places = [1, 2, 3, 9, 100, 254, 255];
    const source = await shelf.add(places.map((count) => 'granite '.repeat(count)));
    await workspace.db
      .updateTable('knowledge_passages')
      .set({ stemmed, worth: 0.5 })
      .where('source_id', '=', source)
      .execute();
    const { rows } = await sql<{ seq: number; score: number }>`
    select seq, score from knowledge_ranking(array[${source}]::uuid[], 'granite', false, array['granite', 'granite', 'granite', 'granite', 'marble'],
      array[0.75, 0.25, 0, 0.125, 1], array[0.5, 0, 0.3, 0.125, 1], array[true, true, true, false, true], 10, 100, 100)
    order by seq`.execute(workspace.db);
    const expected = places.map((count, seq) => {
      const often = (3 * count) / (count + 0.5 + (1.5 * count) / 10);
      return { seq, score: expect.closeTo(0.5 * ((stemmed ? 1 : 0.8) * often + 0.125), 6) };
    });
    expect(rows).toEqual(expected);
  },
);

test('of passages with the same word, the shorter one comes first', async () => {
  const source = await shelf.add([`Giraffes. ${ENGLISH} ${ENGLISH} ${ENGLISH}`, `Giraffes. ${ENGLISH}`, ENGLISH]);
  expect(await order('giraffes', source)).toEqual([1, 0]);
});

test('a stem in the heading counts twice', async () => {
  const source = await shelf.add([`Parcels ${ENGLISH}`, { heading: 'Parcels', content: ENGLISH }, ENGLISH]);
  expect(await order('parcel', source)).toEqual([1, 0]);
});

test('each passage has the stems of its own language', async () => {
  const source = await shelf.add([ENGLISH, `The children were running. ${ENGLISH}`, `Les fichiers. ${FRENCH}`, FRENCH]);
  const rows = await workspace.db
    .selectFrom('knowledge_passages')
    .select(['seq', 'words'])
    .where('source_id', '=', source)
    .orderBy('seq')
    .execute();
  const stems = rows.map(({ words }) => String(words).match(/~\p{L}+/gu) ?? []);
  expect(stems[1]).toEqual(expect.arrayContaining(['~children', '~run', '~languag']));
  expect(stems[2]).toEqual(expect.arrayContaining(['~fichi', '~langu', '~maison']));
  expect(stems[2]).not.toContain('~fichier');
});

describe('with a model for embeddings', () => {
  let server: EmbeddingServer;
  beforeAll(async () => {
    server = await startEmbeddingServer();
    server.meanings = [['alpha', 'gamma']];
  });
  afterAll(() => server.close());

  test('what is first by meaning comes before what is first by words', async () => {
    const both = shelfOf(workspace, server.settings());
    const near = Array.from({ length: 20 }, (_, place) => `Gamma gamma gamma ${place}.`);
    const source = await both.add(['Beta one two three four five six seven.', ...near]);
    const hits = await both.search('alpha beta', [source], 30);
    const byWords = hits.find(({ byWords }) => byWords?.rank === 1);
    expect(byWords).toMatchObject({ seq: 0, byMeaning: { rank: 21 } });
    expect(hits[0]).toMatchObject({ byWords: null, byMeaning: { rank: 1 } });
  });
});
