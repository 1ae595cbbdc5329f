import { contentsLines } from '../../../runtime/knowledge/extract/contents.ts';
import { type Line, layOut } from '../../../runtime/knowledge/extract/pdfLayout.ts';
import { composedLine } from '../../../runtime/knowledge/extract/texText.ts';
import { readText } from '../../../runtime/knowledge/extract/text.ts';
import { extract, makePdf } from '../../support/knowledge/knowledge.ts';
import { mainThreadMs, threadCpuMs } from '../../support/processorTime.ts';

const line = (text: string, y: number, size = 10): Line => ({ text, y, size });
const textOf = (pages: readonly (readonly Line[])[]) => [...layOut(pages)].map(({ text }) => text).join('\n');
const body = (page: number) => [
  line(`Parcel ${page} goes out on the first weekday after the order.`, 500),
  line(`Whoever paid twice for parcel ${page} gets the money back.`, 400),
];

describe('running heads and feet', () => {
  test('that repeat on most pages, with page numbers that count, are left out', () => {
    const pages = Array.from({ length: 12 }, (_, page) => [
      line(page % 2 === 0 ? `Handbook of deliveries ${page + 5}` : `${page + 5} Second edition`, 780),
      ...body(page),
      line('Acme Ltd · confidential', 40),
      line('Printed in Vienna', 28),
    ]);
    const text = textOf(pages);
    expect(text).not.toMatch(/Handbook|edition|confidential|Vienna/);
    expect(text.match(/Parcel \d+ goes/g)).toHaveLength(12);
    expect(text.match(/paid twice/g)).toHaveLength(12);
  });

  test('that name their chapter, and bare numbers of front matter, are left out', () => {
    const pages = Array.from({ length: 20 }, (_, page) => [
      ...(page < 3
        ? [...body(page), line(['ii', 'iii', 'iv'][page] ?? '', 40)]
        : [line(`Chapter ${Math.floor(page / 5)}: Parcels ${page - 2}`, 780), ...body(page)]),
    ]);
    const text = textOf(pages);
    expect(text).not.toMatch(/Chapter|^i+v?$/m);
    expect(text.match(/Parcel \d+ goes/g)).toHaveLength(20);
  });

  test('of front matter, and of pages that have nothing else, are left out', () => {
    const pages = Array.from({ length: 16 }, (_, page) => [
      line(page < 4 ? `Handbook ${['ii', 'iii', 'iv', 'v'][page]}` : 'Handbook, second edition', 780),
      ...(page % 4 === 2 ? [] : body(page)),
      ...(page < 4
        ? []
        : [line(page % 2 === 0 ? `${page - 3} Chapter ${page}. Parcels` : `Parcels and more ${page - 3}`, 40)]),
    ]);
    expect(textOf(pages)).not.toMatch(/Handbook|Chapter|and more/);
  });

  test('a first or last line that says something else on each page stays', () => {
    const subjects = 'apples pears plums cherries quinces grapes figs dates'.split(' ');
    const pages = subjects.map((subject) => [line(`All about ${subject} and how they are sent.`, 780), ...body(1)]);
    const text = textOf(pages);
    for (const subject of subjects) expect(text).toContain(`All about ${subject}`);
  });

  test('of 5,000 pages with the same lines everywhere are found in time that grows with the pages', () => {
    const pagesOf = (count: number) =>
      Array.from({ length: count }, () =>
        Array.from({ length: 40 }, (_, row) => line('The same line.', 780 - row * 18)),
      );
    const time = (count: number) => {
      const began = threadCpuMs();
      for (const _ of layOut(pagesOf(count)));
      return threadCpuMs() - began;
    };
    time(500);
    // Twenty times the pages would take four hundred times as long if each were compared with each.
    expect(time(5_000)).toBeLessThan(100 * Math.max(time(250), 5));
  });
});

describe('tables of contents', () => {
  const FILLED = [
    'Contents',
    'Orders . . . . . . . . . 3',
    'Returns and refunds of',
    'parcels ........ 12',
    'Index ___________ 30',
  ];

  test('with rows of dots are left out of a PDF and of a text, and the sections stay', async () => {
    const pages = [
      { heading: 'Contents', paragraphs: FILLED.slice(1) },
      { heading: 'Orders', paragraphs: ['Orders are taken until noon.'] },
    ];
    for (const passages of [
      await extract(await makePdf(pages), 'pdf'),
      await extract(`${FILLED.join('\n')}\n\nOrders\n\nOrders are taken until noon.`, 'text'),
    ]) {
      const text = passages.map(({ content }) => content).join('\n');
      expect(text).toContain('Orders are taken until noon.');
      expect(text).not.toMatch(/\. \.|\.{4}|___|Returns/);
    }
  });

  test.each([
    [
      'titles with page numbers',
      ['Inhalt', 'Bestellen   1', 'Liefern   4', 'Zahlen\t9', 'Rückgabe   9', 'Verzeichnis    22'],
    ],
    [
      'numbered titles under the word',
      [
        'Table of Contents',
        '',
        '1. Orders',
        '1.1. How to order',
        '1.2. What can',
        'be ordered?',
        '2. Returns',
        '2.1 Refunds',
      ],
    ],
  ])('of %s', (_, lines) => {
    const text = ['Handbook', ...lines, '', '1. Orders', '', 'Orders are taken until noon.'];
    const left = text.filter((_line, at) => !contentsLines(text).has(at)).filter((each) => each !== '');
    expect(left).toEqual(['Handbook', '1. Orders', 'Orders are taken until noon.']);
  });

  test.each([
    ['an ellipsis', ['Well .... 3', 'we ship on weekdays.']],
    [
      'numbered steps',
      ['Steps', '1. Open the box.', '2. Take the lamp.', '3. Put it up.', '4. Plug it in.', '5. Done.'],
    ],
    ['a price list', ['Lamp  30', 'Chair  12', 'Table  90', 'Shelf  45', 'Bed  200']],
    ['a text about contents', ['Contents', 'of the box are a lamp and a chair.']],
  ])('%s is none', (_, lines) => {
    expect(contentsLines(lines)).toEqual(new Set());
  });

  test('a text of nothing else is kept', async () => {
    expect(await extract(FILLED.join('\n'), 'text')).toHaveLength(1);
  });
});

describe('letters', () => {
  test.each([
    ['the ﬁrst ofﬂoor eﬀect, eﬃcient', 'the first offloor effect, efficient'],
    ['caf´e fran¸cais, h¨oren, tˆot, ma˜nana, ˇcas', 'café français, hören, tôt, mañana, čas'],
    ['caf \u0301e fran \u0327cais', 'café français'],
    ['le \u00b4etat', 'le état'],
    ['cafe\u00b4 noir', 'café noir'],
    ['na¨ıve', 'naïve'],
    ['for  \u0300frozen', 'for `frozen'],
    ["on a \u0300 foreign' host", "on a `foreign' host"],
    ['H e a d i n g of it', 'Heading of it'],
    ['a b c', 'a b c'],
    ['x ˆ y', 'x ˆ y'],
    ['日 本 語 の 文 章', '日 本 語 の 文 章'],
  ])('%s', (read, meant) => {
    expect(composedLine(read)).toBe(meant);
  });

  test('fragments of a drawing are dropped, and a short line by itself stays', () => {
    const labels = ['A', 'x y', 'Hz', 'dB', 'Q'].map((text, row) => line(text, 300 - row * 20));
    expect(textOf([[...body(1), ...labels, line('Figure 1 shows the filter.', 100)]])).not.toMatch(/Hz|dB/);
    expect(textOf([[...body(1), line('OK', 300)]])).toContain('OK');
  });

  test.each([
    ['The ware-', 'house is open.', 'The warehouse is open.'],
    ['Sie nutzen das Debian-', 'Archiv.', 'Sie nutzen das Debian-Archiv.'],
    ['Die Ein-', 'und Ausgabe.', 'Die Ein- und Ausgabe.'],
    ['Der Text ist UTF-', '8.', 'Der Text ist UTF-8.'],
    ['Ein „deb-src“-', 'Eintrag.', 'Ein „deb-src“-Eintrag.'],
    ['Look into /usr/share/', 'doc for more.', 'Look into /usr/share/doc for more.'],
    ['Either / or is', '/ a question.', 'Either / or is / a question.'],
  ])('%s, %s', (one, other, whole) => {
    expect(textOf([[line(one, 500), line(other, 488)]])).toBe(whole);
  });

  test('a hyphen at the end of a line stays where the document has the word with it', () => {
    const of = (elsewhere: string) => textOf([[line(elsewhere, 600), line('A well-', 500), line('known case.', 488)]]);
    expect(of('It is well-known here.')).toContain('A well-known case.');
    expect(of('It is wellknown here.')).toContain('A wellknown case.');
  });

  test('points of a list are paragraphs of their own', () => {
    expect(textOf([[line('There are:', 500), line('• apples', 488), line('• pears', 476)]])).toBe(
      'There are:\n• apples\n• pears',
    );
  });
});

describe('a sentence that goes on on the next page', () => {
  const next = [line('of the depot opens at nine.', 700), line('Another paragraph.', 600)];
  test.each<[string, Line[]]>([
    ['is whole', [line('Bring it to the side where the small door', 100)]],
    [
      'is whole over a footnote',
      [line('Bring it to the side where the small door', 100), line('1 Not on Mondays', 60, 8)],
    ],
  ])('%s', (_, end) => {
    const text = textOf([[...body(1), ...end], next]);
    expect(text).toContain('small door of the depot opens at nine.\n');
    expect(text.includes('Not on Mondays')).toBe(end.length === 2);
  });

  test('goes on with a capital where the line is full, and a paragraph that ended is left alone', () => {
    const full = 'Bringen Sie das Paket bis zum Abend an die Seite mit der kleinen';
    expect(textOf([[line(full, 100)], [line('Tür am Hof.', 700)]])).toBe(`${full} Tür am Hof.`);
    for (const [last, first] of [
      ['It ends here.', 'of course'],
      ['Short words', 'Next title'],
      ['Short words', '• a point'],
    ]) {
      expect(textOf([[line(last ?? '', 100)], [line(first ?? '', 700)]])).toBe(`${last}\n${first}`);
    }
  });

  test('over pages that have nothing else keeps the page on which it began', () => {
    const pages = ['It begins with the small', 'door and goes on with the large', 'one.'].map((text) => [
      line(text, 400),
    ]);
    expect([...layOut(pages)]).toEqual([
      { type: 'paragraph', text: 'It begins with the small door and goes on with the large one.', page: 1 },
    ]);
  });
});

describe('a sentence that goes on in the next column', () => {
  const column = [line('of the depot opens at nine', 700), line('and closes at five.', 688)];
  test.each<[string, Line[]]>([
    ['is whole', []],
    ['is whole over a footnote', [line('1 Not on Mondays', 60, 8)]],
  ])('%s', (_, notes) => {
    const text = textOf([[...body(1), line('Bring it to the side where the small door', 100), ...notes, ...column]]);
    expect(text).toContain('small door of the depot opens at nine and closes at five.');
    expect(text.includes('Not on Mondays')).toBe(notes.length === 1);
  });

  test('is no sentence that has ended', () => {
    expect(textOf([[line('It ends here.', 100), line('of course', 700)]])).toBe('It ends here.\nof course');
  });
});

describe('a text that was set in pages', () => {
  const page = (number: number, feed: string) => `${feed}
RFC 9999                     Parcels over Post              November 2026


   Parcel ${number} is handed over at the door of the depot, as the rules
   for heavy goods say, and nobody else may take it from the well-
   known courier of ${TOWNS[number - 1]}, who then goes to the

Doe                          Standards Track                   [Page ${number}]
`;
  const rest = (number: number) => `   next depot, in ${TOWNS[number]}, where it stays for a day.`;
  const TOWNS = 'Graz Linz Wels Enns Steyr Krems'.split(' ');

  test.each([
    ['form feeds', '\f'],
    ['feet', ''],
  ])('and has %s', async (_, feed) => {
    const pages = Array.from({ length: 6 }, (_, at) =>
      page(at + 1, at === 0 ? '' : feed).replace('\n\n\n', `\n\n${rest(at)}\n\n`),
    );
    const text = (await extract(pages.join(''), 'text')).map(({ content }) => content).join('\n');
    expect(text).not.toMatch(/RFC 9999|Standards Track|Page/);
    expect(text).toContain('the well-known courier of Wels, who then goes to the next depot, in Enns, where');
    for (let number = 1; number <= 6; number += 1) expect(text).toContain(`Parcel ${number} is handed over`);
  });
});

test.each([
  ['a paragraph of 10,000 lines', 'The heavy parcels wait at the door of the depot until they go.\n'.repeat(10_000)],
  ['rows of dots before something else', `Parcels ${'.'.repeat(3_000)}q\n`.repeat(50)],
])('%s is read in time in proportion to it', async (_, text) => {
  let read = '';
  const ms = await mainThreadMs(() => {
    for (const block of readText(Buffer.from(text))) read += block.text;
  });
  expect(read.replaceAll(' ', '\n')).toBe(text.trimEnd().replaceAll(' ', '\n'));
  expect(ms).toBeLessThan(600);
});
