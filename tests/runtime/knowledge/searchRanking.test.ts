import { createTestDatabase, type TestDatabase } from '../../support/db/database.ts';
import { type Shelf, shelfOf } from './searchSetting.ts';

let setting: TestDatabase;
let shelf: Shelf;

beforeAll(async () => {
  setting = await createTestDatabase();
  shelf = shelfOf(await setting.seedWorkspace());
});
afterAll(() => setting.drop());

describe('the best passage comes first', () => {
  test('a question in natural words finds what it is about', async () => {
    const source = await shelf.add([
      'What is the shop? The shop is what the town has. How is it? It is open.',
      'Vouchers expire two years after they are bought.',
      'How the garden is watered, and what is in it.',
    ]);
    expect((await shelf.find('What is it that happens to vouchers when they expire?', [source]))[0]).toMatch(
      /^Vouchers/,
    );
  });

  test('more of the words', async () => {
    const source = await shelf.add(['A bicycle.', 'A bicycle with a basket and a bell.', 'A basket.']);
    expect((await shelf.find('bicycle basket bell', [source]))[0]).toBe('A bicycle with a basket and a bell.');
  });

  test('words side by side as they were asked for', async () => {
    const source = await shelf.add([
      'Opening a window is allowed at all hours.',
      'Our opening hours are on the door.',
      'Hours pass. The opening of the door is seen.',
    ]);
    expect((await shelf.find('opening hours', [source]))[0]).toBe('Our opening hours are on the door.');
  });

  test('what speaks of one word all along, before what has each word once', async () => {
    const rest = 'red old big new dry wet and as it was on all the days of the week';
    const passage = (words: string) => `${words} ${rest}`;
    const source = await shelf.add([
      passage('tulip tulip tulip tulip tulip tulip tulip'),
      passage('tulip stone stone stone stone stone quartz'),
      ...['tulip', 'tulip', 'quartz', 'quartz'].map((word) => passage(`${word} stone stone stone stone stone stone`)),
      ...Array.from({ length: 6 }, () => passage('stone stone stone stone stone stone stone')),
    ]);
    const [first, second] = await shelf.search('quartz, a tulip?', [source]);
    expect([first?.seq, second?.seq]).toEqual([0, 1]);
  });

  test('words in the heading', async () => {
    const source = await shelf.add([
      { content: 'See the price list.', heading: 'Garden' },
      { content: 'See the price list.', heading: 'Membership' },
      { content: 'Membership was discussed at length in the garden.' },
    ]);
    expect(await shelf.search('membership', [source])).toMatchObject([{ heading: 'Membership' }, { seq: 2 }]);
  });

  test('the word itself before words like it', async () => {
    const source = await shelf.add(['Our policies.', 'Our policy.', 'The police.']);
    expect((await shelf.find('policy', [source]))[0]).toBe('Our policy.');
    expect((await shelf.find('policies', [source]))[0]).toBe('Our policies.');
  });
});

describe('codes and numbers', () => {
  const wanted = 'Order A-1234 was sent on 2026-05-04 for 1,299.50 euros.';
  let source: string;
  beforeAll(async () => {
    source = await shelf.add([
      'Order A-1235 was sent on 2026-05-05 for 1,300.00 euros.',
      wanted,
      'Order B-1234x was sent on 2026-06-04 for 99.50 euros.',
      'Firmware v2.3.1 is for model X_77, write to help@example.com.',
    ]);
  });
  test.each(['A-1234', 'a1234', 'A 1234', 'where is my order A‑1234?', '1,299.50', '2026-05-04'])(
    '%s',
    async (query) => {
      expect((await shelf.find(query, [source]))[0]).toBe(wanted);
    },
  );
  test.each(['v2.3.1', 'X_77', 'x77', 'help@example.com'])('%s', async (query) => {
    expect((await shelf.find(query, [source]))[0]).toMatch(/^Firmware/);
  });
  test('a code that is not there is not taken for another one', async () => {
    expect(await shelf.find('A-1239', [await shelf.add(['A1234', 'A1235'])])).toEqual([]);
  });
});

describe('typing errors', () => {
  let source: string;
  beforeAll(async () => {
    source = await shelf.add([
      'Delivery is free for members.',
      'The warranty covers batteries and screens.',
      'Abholung im Geschäft ist möglich.',
      'Гарантия действует два года.',
    ]);
  });
  test.each([
    ['delviery', /^Delivery/],
    ['delivry', /^Delivery/],
    ['warrantee of bateries', /^The warranty/],
    ['Geschaft', /^Abholung/],
    ['abholng', /^Abholung/],
    ['гаранитя', /^Гарантия/],
  ])('%s', async (query, expected) => {
    expect((await shelf.find(query, [source]))[0]).toMatch(expected);
  });
  test('a word that is like no other finds nothing', async () => {
    expect(await shelf.find('xylophone quartz', [source])).toEqual([]);
  });
});

describe('hostile queries', () => {
  let source: string;
  beforeAll(async () => {
    source = await shelf.add(["It's a test of what's here.", "Backslash \\ and quote ' and colon :* here.", 'Zwölf.']);
  });
  test.each([
    ["'"],
    ["''''"],
    [':*'],
    ['&|!()<->'],
    ["') ; drop table knowledge_passages; --"],
    ['\\'],
    ["'test' & !('here':*A | \\'x)"],
    ['%_*?'],
    ['\u0000'],
    ['\ud800'],
    ['🎉🎉👩‍👩‍👧'],
    ['\u202e\u200d\ufeff'],
    ['<script>alert(1)</script>'],
    ['$1 {{y}} $$'],
    ['a'.repeat(100_000)],
    ['(('.repeat(50_000)],
    ["' ".repeat(50_000)],
    [Array.from({ length: 20_000 }, (_, i) => `w${i}`).join(' ')],
    ['ä'.repeat(100_000)],
    ['测'.repeat(100_000)],
    ['\u0301'.repeat(100_000)],
  ])('%.40s', async (query) => {
    expect(Array.isArray(await shelf.find(query, [source]))).toBe(true);
    expect((await shelf.find('backslash', [source]))[0]).toMatch(/^Backslash/);
  });

  test('a word is found beside hostile characters', async () => {
    expect((await shelf.find("te\u0000st ' & | ! :* \\ (quote", [source]))[0]).toMatch(/^Backslash/);
    expect((await shelf.find(`${'zwölf '.repeat(20_000)}`, [source]))[0]).toBe('Zwölf.');
  });

  test('content may be as hostile', async () => {
    const odd = await shelf.add([
      { content: "NUL \u0000 in 'the' \\middle\\ ʼn \ud800 of orchids", heading: "It's \u0000 \\" },
      `${'x'.repeat(100_000)} tulips`,
      `tulips ${'very '.repeat(30_000)} late roses`,
      '🎉',
    ]);
    expect((await shelf.find('orchids', [odd]))[0]).toBe("NUL  in 'the' \\middle\\ ʼn \ufffd of orchids");
    expect(await shelf.find('tulips', [odd])).toHaveLength(2);
    expect((await shelf.find('late roses', [odd]))[0]).toMatch(/late roses$/);
  });
});
