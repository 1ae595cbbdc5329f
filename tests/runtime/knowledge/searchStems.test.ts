import { sql } from 'kysely';
import { findSourcesToIndex } from '../../../db/queries/knowledge/knowledgeIndex.ts';
import { indexStoredPassages } from '../../../runtime/knowledge/indexStored.ts';
import { replacePassages } from '../../../runtime/knowledge/passages.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
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

const ENGLISH = 'This is a text of the house, and it is in the language that you are to read with me.';
const FRENCH = 'Ceci est un texte de la maison, et il est dans la langue que vous avez à lire avec nous.';
const GERMAN = 'Das ist ein Text für das Haus, und er ist in der Sprache, die Sie mit uns lesen werden.';

/** What the row of a passage says of its words. */
async function rowsOf(sourceId: string) {
  return await workspace.db
    .selectFrom('knowledge_passages')
    .select(['seq', 'length', 'stemmed', 'worth'])
    .where('source_id', '=', sourceId)
    .orderBy('seq')
    .execute();
}

/** Makes a source look as one that was stored before there were stems. */
async function makeOld(sourceId: string): Promise<void> {
  await sql`
    update knowledge_passages set length = null, stemmed = false, worth = 1,
      words = ts_delete(words, array(select w from unnest(tsvector_to_array(words)) w where w like '~%'))
    where source_id = ${sourceId}`.execute(setting.database.system);
  await sql`delete from knowledge_indexes where source_id = ${sourceId}`.execute(setting.database.system);
}

describe('inflected words are found by their stems', () => {
  test.each([
    ['English', ENGLISH, 'The children were running.', 'does a child run'],
    ['English, where the endings are far apart', ENGLISH, 'The guests are happy.', 'happiness'],
    ['French', FRENCH, 'Les fichiers sont téléchargés dans le dossier.', 'le téléchargement du fichier'],
    ['German', GERMAN, 'Die Geräte sind mit den Kabeln zu verbinden.', 'Gerät mit Kabel'],
  ])('%s', async (_language, filler, wanted, question) => {
    const source = await shelf.add([filler, `${filler} ${filler}`, `${wanted} ${filler}`, filler]);
    const [first] = await shelf.search(question, [source]);
    expect(first?.seq).toBe(2);
    expect((await rowsOf(source)).every(({ stemmed }) => stemmed)).toBe(true);
  });

  test('a question in French does not find a word that two of its words make together', async () => {
    const source = await shelf.add([
      `Puisje est un nom. ${FRENCH}`,
      `Puis je reviens à la maison. ${FRENCH}`,
      `Jai est une ville. ${FRENCH}`,
    ]);
    expect(await shelf.find('puisje', [source], 1)).toEqual([expect.stringMatching(/^Puisje/)]);
    const found = await shelf.search("Puis-je revenir ? J'ai", [source], 1);
    expect(found).toMatchObject([{ seq: 1 }]);
  });

  test('an elided article is no word, and the word behind it is found without it', async () => {
    const source = await shelf.add([
      `L'ordinateur de l'école. ${FRENCH}`,
      `Le chat dort. ${FRENCH}`,
      `L ou l, l'un, l'autre, d'un, qu'il. ${FRENCH}`,
    ]);
    expect(await shelf.search("qu'est-ce que l'ordinateur", [source])).toMatchObject([{ seq: 0 }, {}, {}]);
    expect(await shelf.search('ordinateurs', [source])).toMatchObject([{ seq: 0 }]);
  });

  test('the word itself counts more than its stem', async () => {
    const source = await shelf.add([
      `The policies of the house. ${ENGLISH}`,
      `The policy of the house. ${ENGLISH}`,
      `Nothing else. ${ENGLISH}`,
    ]);
    expect((await shelf.search('policy', [source]))[0]).toMatchObject({ seq: 1 });
    expect((await shelf.search('policies', [source]))[0]).toMatchObject({ seq: 0 });
  });

  test('the heading of a passage counts more than that of its chapter, which stands above many', async () => {
    const source = await shelf.add([
      { content: `Nothing else. ${ENGLISH}`, heading: 'Printing > Paper' },
      { content: `Nothing else. ${ENGLISH}`, heading: 'Printing > Ink' },
      { content: `Nothing else. ${ENGLISH}`, heading: 'Paper > Printing' },
      { content: `Nothing else. ${ENGLISH}`, heading: 'Garden > Trees' },
    ]);
    expect((await shelf.search('prints', [source]))[0]).toMatchObject({ seq: 2 });
    expect((await shelf.search('papers', [source]))[0]).toMatchObject({ seq: 0 });
  });

  test('codes and names are not stemmed', async () => {
    const source = await shelf.add([
      `You print with CUPS here. ${ENGLISH}`,
      `A cup of tea here. ${ENGLISH}`,
      `Order A1234s. ${ENGLISH}`,
    ]);
    expect((await shelf.search('CUPS', [source]))[0]).toMatchObject({ seq: 0 });
    expect((await shelf.search('cups', [source]))[0]).toMatchObject({ seq: 0 });
    expect(await shelf.search('A1234', [source])).toEqual([]);
  });

  test('a source in two languages has the stems of both', async () => {
    const source = await shelf.add([
      `The children were running. ${ENGLISH}`,
      `Les fichiers sont téléchargés. ${FRENCH}`,
      ENGLISH,
      FRENCH,
    ]);
    expect((await shelf.search('téléchargement', [source]))[0]).toMatchObject({ seq: 1 });
    expect((await shelf.search('runs', [source]))[0]).toMatchObject({ seq: 0 });
  });

  test('a source whose language is not known is found by its words as before', async () => {
    const source = await shelf.add(['Rokolo mafi tundera.', 'Besa kolumbo rokola.', 'Tundero mafi.']);
    expect(await rowsOf(source)).toMatchObject([{ stemmed: false }, { stemmed: false }, { stemmed: false }]);
    expect((await shelf.search('rokolo', [source]))[0]).toMatchObject({ seq: 0 });
    expect((await shelf.search('kolumbos', [source]))[0]).toMatchObject({ seq: 1 });
    // Beside a source with stems, its words weigh as much.
    const english = await shelf.add([ENGLISH, `Kolumbos are running. ${ENGLISH}`]);
    expect((await shelf.search('besa kolumbo', [english, source]))[0]).toMatchObject({ sourceId: source, seq: 1 });
  });
});

describe('ranking', () => {
  test('a word is as rare as it is in the searched sources, not in the workspace', async () => {
    await shelf.add(Array.from({ length: 60 }, (_, seq) => `Voucher ${seq} of the shop.`));
    const source = await shelf.add([
      ...Array.from({ length: 20 }, (_, seq) => `Invoice number ${seq} of the shop.`),
      'Invoice for a voucher.',
    ]);
    // In the workspace "voucher" is the more common word, in the source it is the rare one.
    const [first] = await shelf.search('shop voucher', [source]);
    expect(first).toMatchObject({ seq: 20 });
  });

  test('of passages with the same word, a short one comes before a long one', async () => {
    const long = Array.from({ length: 250 }, (_, index) => `word${index}`).join(' ');
    const source = await shelf.add([`Giraffe. ${long}`, 'A giraffe eats leaves.', long]);
    expect(await shelf.search('giraffe', [source])).toMatchObject([{ seq: 1 }, { seq: 0 }]);
  });

  test('one word repeated does not win against all words of the question', async () => {
    const source = await shelf.add([
      'refund '.repeat(280),
      `A refund of the delivery takes a week. ${ENGLISH}`,
      ...Array.from({ length: 5 }, (_, seq) => `${ENGLISH} Delivery ${seq}, week ${seq}.`),
    ]);
    expect((await shelf.search('refund of the delivery within a week', [source]))[0]).toMatchObject({ seq: 1 });
  });

  test('a table of contents does not win', async () => {
    const titles = [
      'Printing a page',
      'Changing the paper size',
      'Choosing a printer',
      'Cleaning the printer',
      'Paper jams',
    ];
    const source = await shelf.add([
      titles.map((title, index) => `1.${index} ${title} ........ ${index * 7 + 3}`).join('\n'),
      titles.join('\n'),
      ...titles.map((heading) => ({
        heading: `Manual > ${heading}`,
        content: `${ENGLISH} Here we say what to do, in some more words and with a picture of it for the reader.`,
      })),
    ]);
    expect(await rowsOf(source)).toMatchObject([{ worth: 0.3 }, { worth: 0.3 }, ...titles.map(() => ({ worth: 1 }))]);
    expect((await shelf.search('how do I change the size of the paper', [source]))[0]).toMatchObject({
      heading: 'Manual > Changing the paper size',
    });
  });

  test('a price list and a list of steps are no tables of contents', async () => {
    const source = await shelf.add([
      ['Red lamp 40', 'Blue lamp 12', 'Green sofa 300', 'Table 99', 'Old chair 15', 'Rug 80'].join('\n'),
      ['1. Open the lid', '2. Take the paper out', '3. Close the lid', '4. Press the button', '5. Wait'].join('\n'),
    ]);
    expect(await rowsOf(source)).toMatchObject([{ worth: 1 }, { worth: 1 }]);
  });

  test('a question of stop words only, however long, finds what it can and costs no more', async () => {
    const source = await shelf.add([ENGLISH, FRENCH, GERMAN]);
    const question = 'the of and to is that for it as was with be by on not this are or from you your have '.repeat(50);
    expect((await shelf.search(question, [source]))[0]).toMatchObject({ seq: 0 });
  });
});

describe('sources of before', () => {
  test('are found by their words until they are indexed, and by their stems then', async () => {
    const old = await shelf.add([`The children were running. ${ENGLISH}`, `The guests are happy. ${ENGLISH}`]);
    const before = await countsOf();
    await makeOld(old);
    expect((await shelf.search('running children', [old]))[0]).toMatchObject({ seq: 0 });
    const fresh = await shelf.add([`A child reads. ${ENGLISH}`, ENGLISH]);
    expect((await shelf.search('running children', [old, fresh]))[0]).toMatchObject({ sourceId: old, seq: 0 });

    const waiting = await findSourcesToIndex(setting.database.system, 100);
    expect(waiting).toContainEqual({ workspaceId: workspace.workspaceId, sourceId: old });
    expect(waiting).not.toContainEqual(expect.objectContaining({ sourceId: fresh }));
    expect(await indexStoredPassages(shelf, old)).toBe(true);
    expect(await findSourcesToIndex(setting.database.system, 100)).not.toContainEqual(
      expect.objectContaining({ sourceId: old }),
    );
    expect(await rowsOf(old)).toMatchObject([{ stemmed: true }, { stemmed: true }]);
    expect((await shelf.search('happiness', [old]))[0]).toMatchObject({ seq: 1 });
    await replacePassages(shelf, fresh, []);
    expect(await countsOf()).toEqual(before);
  });

  test('those that are deleted or processed again meanwhile are left alone', async () => {
    const old = await shelf.add([ENGLISH]);
    await makeOld(old);
    await workspace.db
      .updateTable('knowledge_sources')
      .set({ processing_status: 'PROCESSING' })
      .where('id', '=', old)
      .execute();
    expect(await findSourcesToIndex(setting.database.system, 100)).not.toContainEqual(
      expect.objectContaining({ sourceId: old }),
    );
    expect(await indexStoredPassages(shelf, old)).toBe(false);
    expect(await rowsOf(old)).toMatchObject([{ length: null, stemmed: false }]);
  });

  test('the workspaces take turns', async () => {
    const many = await Promise.all([1, 2, 3].map(() => shelf.add([ENGLISH])));
    const other = shelfOf(await setting.seedWorkspace());
    const one = await other.add([ENGLISH]);
    for (const id of [...many, one]) await makeOld(id);
    const [first, second] = await findSourcesToIndex(setting.database.system, 2);
    expect(new Set([first?.workspaceId, second?.workspaceId])).toEqual(new Set([shelf.workspaceId, other.workspaceId]));
  });

  test('passages that replace indexed ones leave no counts behind', async () => {
    const source = await shelf.add([ENGLISH, 'Zebras graze.']);
    await replacePassages(shelf, source, passagesOf(['Tigers swim.']));
    const words = await workspace.db
      .selectFrom('knowledge_source_words')
      .select('word')
      .where('source_id', '=', source)
      .execute();
    expect(words.map(({ word }) => word)).not.toContain('zebras');
    await replacePassages(shelf, source, []);
    expect(await workspace.db.selectFrom('knowledge_indexes').selectAll().execute()).toEqual([]);
  });

  async function countsOf() {
    return await workspace.db.selectFrom('knowledge_words').select(['word', 'passages']).orderBy('word').execute();
  }
});
