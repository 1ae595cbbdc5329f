import { sql } from 'kysely';
import { replacePassages } from '../../../runtime/knowledge/passages.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { passagesOf, type Shelf, shelfOf } from './searchSetting.ts';

let setting: TestDatabase;
let ours: SeededWorkspace;
let theirs: SeededWorkspace;
let shelf: Shelf;
let strangers: Shelf;

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace();
  theirs = await setting.seedWorkspace();
  shelf = shelfOf(ours);
  strangers = shelfOf(theirs);
});
afterAll(() => setting.drop());

describe('a search', () => {
  test('finds in the given sources only, and says where', async () => {
    const linked = await shelf.add(['Umbrellas are lent at the desk.'], { name: 'Front desk' });
    const other = await shelf.add([{ content: 'Umbrellas are sold in the shop.', heading: 'Shop', page: 7 }], {
      name: 'Shop',
    });
    expect(await shelf.find('umbrellas', [linked])).toEqual(['Umbrellas are lent at the desk.']);
    expect(await shelf.search('umbrellas', [other])).toEqual([
      {
        sourceId: other,
        sourceName: 'Shop',
        seq: 0,
        heading: 'Shop',
        page: 7,
        content: 'Umbrellas are sold in the shop.',
        score: 1,
        byWords: { rank: 1, score: expect.any(Number) },
        byMeaning: null,
      },
    ]);
    expect(await shelf.find('umbrellas', [linked, other])).toHaveLength(2);
  });

  test('finds nothing without sources and without words in the query', async () => {
    const source = await shelf.add(['A lighthouse.']);
    expect(await shelf.find('lighthouse', [])).toEqual([]);
    expect(await shelf.find(' \n\t', [source])).toEqual([]);
    expect(await shelf.find('lighthouse', [source], 0)).toEqual([]);
    expect(await shelf.find('lighthouse', [source])).toEqual(['A lighthouse.']);
  });

  test.each(['PENDING', 'PROCESSING', 'FAILED'] as const)('finds nothing in a source that is %s', async (status) => {
    const source = await shelf.add(['A windmill.']);
    expect(await shelf.find('windmill', [source])).toHaveLength(1);
    await ours.db
      .updateTable('knowledge_sources')
      .set({ processing_status: status, error_message: status === 'FAILED' ? 'Broken.' : null })
      .where('id', '=', source)
      .execute();
    expect(await shelf.find('windmill', [source])).toEqual([]);
  });

  test('finds nothing in a deleted source', async () => {
    const source = await shelf.add(['A watermill.'], { deleted_at: new Date() });
    expect(await shelf.find('watermill', [source])).toEqual([]);
  });

  test('finds nothing of another workspace, even with its ids', async () => {
    const secret = await strangers.add(['The treasure is under the oak.']);
    const own = await shelf.add(['There is no treasure here.']);
    expect(await strangers.find('treasure', [secret])).toHaveLength(1);
    expect(await shelf.find('treasure', [secret])).toEqual([]);
    expect(await shelf.find('treasure', [secret, own])).toEqual(['There is no treasure here.']);
    // The words of another workspace correct no spelling either.
    expect(await shelf.find('tresure oka', [secret])).toEqual([]);
  });

  test('returns at most the requested number of passages, best first', async () => {
    const source = await shelf.add(
      Array.from({ length: 30 }, (_, seq) => `Ferry ${seq} leaves${seq === 17 ? ' for Corsica' : ''}.`),
    );
    const hits = await shelf.search('ferry to Corsica', [source], 5);
    expect(hits).toHaveLength(5);
    expect(hits[0]?.seq).toBe(17);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores[0]).toBe(1);
  });
});

/** The functions that look past row-level security, asked directly: the second lock. */
describe('what the index tells', () => {
  const matches = (asker: SeededWorkspace, sourceId: string, inverted: boolean) =>
    sql`select * from knowledge_ranking(array[${sourceId}]::uuid[], 'granite', ${inverted}, array['granite'], array[1], array[1], array[true], 100, 10, 10)`
      .execute(asker.db)
      .then(({ rows }) => rows);
  const vocabulary = (asker: SeededWorkspace, sourceId: string) =>
    sql`select * from knowledge_terms(array['granite', 'granit'], array['granite', 'granit'], array['granite', 'granit'], array[${sourceId}]::uuid[])
        where passages > 0 or (found > 0 and ordinal > 0)`
      .execute(asker.db)
      .then(({ rows }) => rows);

  test('is of the workspace of the connection, and of no other', async () => {
    const source = await strangers.add(['Granite is a stone.']);
    for (const inverted of [true, false]) {
      expect(await matches(theirs, source, inverted)).toHaveLength(1);
      expect(await matches(ours, source, inverted)).toEqual([]);
    }
    expect(await vocabulary(theirs, source)).not.toEqual([]);
    expect(await vocabulary(ours, source)).not.toContainEqual(expect.objectContaining({ word: 'granite' }));
  });

  test('is what the workspace has, where all of it is searched: also words of single passages, which large sources do not count', async () => {
    const one = await setting.seedWorkspace();
    const library = shelfOf(one);
    const contents = Array.from({ length: 60 }, (_, seq) => `Shelf ${seq}${seq === 30 ? ' has a samovar' : ''}.`);
    const sources = [await library.add(contents), await library.add(contents), await library.add(contents)];
    const found = async (sourceIds: string[]) => {
      const { rows } = await sql<{ found: number }>`
        select found from knowledge_terms(array['samovar'], array['samovar'], array['samovar'], ${sourceIds}::uuid[]) where word = 'samovar'`.execute(
        one.db,
      );
      return rows.map((row) => row.found);
    };
    expect(await found(sources)).toEqual([3]);
    expect(await found(sources.slice(0, 2))).toEqual([0]);
  });

  test('gives a few passages the scores that it gives many, to the last bit', async () => {
    const one = await setting.seedWorkspace();
    const contents = Array.from(
      { length: 40 },
      (_, seq) => `Stone ${'granite '.repeat(seq % 7)}and ${'marble '.repeat(seq % 5)}walls.`,
    );
    const few = await shelfOf(one).add(contents);
    const ranked = async (candidates: string | null) => {
      const { rows } = await sql`
        select * from knowledge_ranking(array[${few}]::uuid[], ${candidates}::tsquery, false, array['granite', 'marble', '''~wall''', 'granite <-> and', 'stone | marble', 'none'],
          array[0.3, 0.7, 1.1, 0.35, 0, 2], array[0.9, 0, 0, 0.35, 0.6, 2], array[true, true, true, false, false, true], 9.7, 1500, 50)`.execute(
        one.db,
      );
      return rows;
    };
    const scores = await ranked(null);
    expect(scores).toHaveLength(40);
    expect(new Set(scores.map((row) => (row as { score: number }).score)).size).toBeGreaterThan(20);
    // With candidates the formula is put together, as it is for many.
    expect(await ranked("'stone'")).toEqual(scores);
  });

  test('is nothing where there is no workspace', async () => {
    const source = await strangers.add(['Granite is a stone.']);
    const nobody = { ...ours, db: setting.database.forWorkspace('') };
    for (const inverted of [true, false]) expect(await matches(nobody, source, inverted)).toEqual([]);
    expect(await vocabulary(nobody, source)).toEqual([]);
  });

  test('can be read by this connection only', async () => {
    const { rows } = await sql<{ name: string; owner: string; grantees: string }>`
      select p.proname as name, pg_get_userbyid(p.proowner) as owner,
        (select string_agg(distinct coalesce(nullif(a.grantee, 0)::regrole::text, 'public'), ', ') from aclexplode(p.proacl) a) as grantees
      from pg_proc p where p.prosecdef and p.pronamespace = 'public'::regnamespace and p.proname like 'knowledge%'
      order by 1`.execute(setting.database.system);
    expect(rows).toEqual(
      ['knowledge_matches', 'knowledge_ranking', 'knowledge_terms', 'knowledge_vocabulary'].map((name) => ({
        name,
        owner: 'guildhall_system',
        grantees: 'guildhall_app, guildhall_system',
      })),
    );
    const { rows: rights } = await sql<{ may: boolean }>`
      select has_schema_privilege('guildhall_system', 'public', 'create') as may`.execute(setting.database.system);
    expect(rights).toEqual([{ may: false }]);
  });
});

describe('in a large collection', () => {
  const COUNT = 3000;
  let large: string;
  beforeAll(async () => {
    const colours = ['red', 'green', 'blue', 'black', 'white', 'grey', 'brown'];
    const things = ['chair', 'table', 'lamp', 'sofa', 'shelf', 'bed', 'desk', 'rug', 'clock', 'vase', 'mirror'];
    const contents = Array.from({ length: COUNT }, (_, seq) => {
      const article = seq === 2222 ? 'Article 2222: discontinued pyramid' : `Article ${seq}: in stock`;
      return `${article}, ${colours[seq % 7]} ${things[seq % 11]}, made of ${seq % 3 === 0 ? 'wood' : 'steel'}.`;
    });
    large = await shelf.add([]);
    await replacePassages(shelf, large, passagesOf(contents));
  });

  test('the inverted index is used, row-level security or not', async () => {
    const scans = async () => {
      // Statistics of the connections that are idle are written when they are told to.
      await sql`select pg_stat_force_next_flush()`.execute(ours.db);
      const { rows } = await sql<{ scans: number }>`
        select idx_scan as scans from pg_stat_user_indexes where indexrelname = 'knowledge_passages_words'`.execute(
        setting.database.system,
      );
      return rows[0]?.scans ?? 0;
    };
    const before = await scans();
    expect(await shelf.find('discontinued pyramid', [large], 1)).toEqual([expect.stringContaining('Article 2222')]);
    for (const deadline = Date.now() + 10_000; (await scans()) === before && Date.now() < deadline; ) {
      await shelf.find('discontinued pyramid', [large], 1);
    }
    expect(await scans()).toBeGreaterThan(before);
  });

  test('a rare word has more weight than common ones', async () => {
    const [first] = await shelf.find('which article in stock made of steel is a pyramid', [large], 3);
    expect(first).toContain('pyramid');
  });

  test('common words must occur together', async () => {
    const found = await shelf.find('blue lamp made of wood', [large], 5);
    expect(found).toHaveLength(5);
    for (const content of found) expect(content).toMatch(/blue lamp, made of wood/);
  });

  test('a word that every passage has finds passages, too', async () => {
    expect(await shelf.find('article', [large], 4)).toHaveLength(4);
    expect(await shelf.find('article made of', [large], 4)).toHaveLength(4);
  });

  test('a small source beside it is searched by itself', async () => {
    const small = await shelf.add(['An article about steel.', 'A note about lamps.']);
    expect((await shelf.find('article made of steel', [small]))[0]).toBe('An article about steel.');
    expect((await shelf.find('lamp', [small]))[0]).toBe('A note about lamps.');
  });

  test('of a small source and the large one, the better passage comes first', async () => {
    const small = await shelf.add(['The pyramid is sold out.']);
    expect(await shelf.find('pyramid sold out', [small, large], 2)).toEqual([
      'The pyramid is sold out.',
      expect.stringContaining('Article 2222'),
    ]);
  });
});
