import type { SourceKind } from '../../../runtime/files/fileKinds.ts';
import { type Block, UnreadableFile } from '../../../runtime/knowledge/extract/blocks.ts';
import { readCsv } from '../../../runtime/knowledge/extract/csv.ts';
import { readMarkdown } from '../../../runtime/knowledge/extract/markdown.ts';
import { extract, makeBook, makeDocx, makePdf, makeZip } from '../../support/knowledge/knowledge.ts';

/** The file is refused with a sentence for the person who uploaded it. */
async function expectUnreadable(content: Buffer | string, kind: SourceKind, message: RegExp): Promise<void> {
  const error = await extract(content, kind).then(
    (passages) => passages,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UnreadableFile);
  expect((error as UnreadableFile).message).toMatch(message);
}

const contents = async (content: Buffer | string, kind: SourceKind) =>
  (await extract(content, kind)).map(({ content: text }) => text);

const blocksOf = async (blocks: AsyncIterable<Block>) => await Array.fromAsync(blocks);

describe('PDF', () => {
  test('passages have their page, and the large letters above them as heading', async () => {
    const pdf = await makePdf([
      { heading: 'Shipping', paragraphs: ['We ship on weekdays.', 'Parcels take two days.'] },
      { paragraphs: ['Letters take one day.'] },
      { heading: 'Returns', paragraphs: ['Send it back within thirty days.'] },
    ]);
    expect(await extract(pdf, 'pdf')).toEqual([
      {
        seq: 0,
        heading: 'Shipping',
        page: 1,
        content: 'We ship on weekdays.\n\nParcels take two days.\n\nLetters take one day.',
      },
      { seq: 1, heading: 'Returns', page: 3, content: 'Send it back within thirty days.' },
    ]);
  });

  test('lines of a paragraph become one line', async () => {
    const sentence = 'The quick brown fox jumps over the lazy dog and then it sleeps for a very long time indeed. ';
    const [passage] = await extract(await makePdf([{ paragraphs: [sentence.repeat(4).trim()] }]), 'pdf');
    expect(passage?.content).toBe(sentence.repeat(4).trim());
  });

  test('what is printed on every page is left out, and every page is found', async () => {
    const passages = await extract(await makeBook(8), 'pdf');
    expect(passages.filter(({ content }) => content.includes('of 8'))).toEqual([]);
    for (let page = 1; page <= 8; page += 1) {
      const own = passages.filter((passage) => passage.page === page);
      expect(own[0]).toMatchObject({ heading: `Chapter ${page}` });
      expect(own[0]?.content).toContain(`marker${page} opens here.`);
    }
  });

  test('text under a password of its owner alone can be read', async () => {
    const pdf = await makePdf([{ paragraphs: ['Look, do not print.'] }], { ownerPassword: 'secret' });
    expect(await contents(pdf, 'pdf')).toEqual(['Look, do not print.']);
  });

  test('the error for a PDF with a password says so', async () => {
    const pdf = await makePdf([{ paragraphs: ['Secret.'] }], { userPassword: 'secret', pdfVersion: '1.7' });
    await expectUnreadable(pdf, 'pdf', /protected by a password\. Remove the password/);
  });

  test('the error for a PDF of pictures only says so', async () => {
    await expectUnreadable(await makePdf([{ picture: true }, { picture: true }]), 'pdf', /no text, only pictures.*OCR/);
  });

  test('the error for a truncated PDF says so', async () => {
    const pdf = await makeBook(5);
    await expectUnreadable(pdf.subarray(0, pdf.length / 2), 'pdf', /damaged or incomplete/);
    await expectUnreadable('%PDF-1.7\nnothing more', 'pdf', /damaged or incomplete/);
  });
});

describe('DOCX', () => {
  test('headings, lists and tables keep their structure', async () => {
    expect(await extract(await makeDocx(), 'docx')).toEqual([
      { seq: 0, heading: 'Handbook', page: null, content: 'Welcome to Smith & Sons <Ltd>.' },
      { seq: 1, heading: 'Shipping', page: null, content: 'We ship on weekdays.' },
      {
        seq: 2,
        heading: 'Shipping > Abroad',
        page: null,
        content: '- By air\n- By sea\nCountry | Days\nAustria | 2\nBrazil | 9\n\nDuties are yours.',
      },
    ]);
  });

  test('the error for a damaged DOCX says so', async () => {
    const docx = await makeDocx();
    await expectUnreadable(docx.subarray(0, docx.length / 2), 'docx', /DOCX is damaged/);
    await expectUnreadable(await makeZip({ 'word/document.xml': '<w:doc' }), 'docx', /DOCX is damaged/);
  });
});

describe('CSV', () => {
  const rows = 'Name: Bolt; Price: 3.50; Town: Graz\nName: Nut; Price: 1.20; Town: Wien';

  test.each([
    ['commas', 'Name,Price,Town\nBolt,3.50,Graz\nNut,1.20,Wien\n'],
    ['semicolons', 'Name;Price;Town\r\nBolt;3.50;Graz\r\nNut;1.20;Wien'],
    ['tabs', 'Name\tPrice\tTown\nBolt\t3.50\tGraz\nNut\t1.20\tWien\n'],
    ['bars', 'Name|Price|Town\nBolt|3.50|Graz\nNut|1.20|Wien\n'],
    [
      'quotes, a byte order mark and empty lines',
      '\ufeff"Name","Price","Town"\n\n"Bolt","3.50","Graz"\n\nNut,1.20,Wien\n',
    ],
    ['the separator on the first line', 'sep=;\nName;Price;Town\nBolt;3.50;Graz\nNut;1.20;Wien\n'],
  ])('each row names its columns: %s', async (_what, csv) => {
    expect(await contents(csv, 'csv')).toEqual([rows]);
  });

  test('passages are whole rows', async () => {
    const csv = `Name,Price,Note\n${Array.from({ length: 300 }, (_, n) => `Part ${n},${n}.50,"Shelf ${n}, left"`).join('\n')}`;
    const passages = await contents(csv, 'csv');
    expect(passages.length).toBeGreaterThan(5);
    const lines = passages.flatMap((content) => content.split('\n'));
    expect(lines).toEqual(
      Array.from({ length: 300 }, (_, n) => `Name: Part ${n}; Price: ${n}.50; Note: Shelf ${n}, left`),
    );
  });

  test('a table without names of columns is read as it is', async () => {
    expect(await contents('1,2,3\n4,5,6\n', 'csv')).toEqual(['1; 2; 3\n4; 5; 6']);
    expect(await contents('Name,Price\n', 'csv')).toEqual(['Name; Price']);
  });

  test('rows of different lengths are read', async () => {
    expect(await contents('Name,Price\nBolt\nNut,1,extra\n', 'csv')).toEqual([
      'Name: Bolt\nName: Nut; Price: 1; extra',
    ]);
  });

  test('quotes in the wrong places are letters', async () => {
    expect(await contents('Name,Size\nDisk,3" inch\n"Disk" B,5\n "C, D", "7"\n', 'csv')).toEqual([
      'Name: Disk; Size: 3" inch\nName: "Disk" B; Size: 5\nName: C, D; Size: 7',
    ]);
  });

  test.each([
    ['years', 'Country,2022,2023\nAustria,5,\nBrazil,,7\n', 'Country: Austria; 2022: 5\nCountry: Brazil; 2023: 7'],
    ['signs, and one name twice', 'Name,Phone,Phone,%\nBolt,1,2,3\n', 'Name: Bolt; Phone: 1; Phone: 2; %: 3'],
    ['spaces and line breaks', 'Name ,"Price\n(EUR)"\nBolt,"3\n4"\n', 'Name: Bolt; Price (EUR): 3 4'],
  ])('names of columns may have %s', async (_what, csv, rows) => {
    expect(await blocksOf(readCsv(Buffer.from(csv)))).toEqual(rows.split('\n').map((text) => ({ type: 'row', text })));
  });

  test('a title above the table is no row of it', async () => {
    const csv = 'Prices of spring;;\n;;\nName;Price;Town\nBolt;3,50;Graz\nNut;1,20;Wien\nPin;;\n';
    expect(await blocksOf(readCsv(Buffer.from(csv)))).toEqual([
      { type: 'paragraph', text: 'Prices of spring' },
      { type: 'row', text: 'Name: Bolt; Price: 3,50; Town: Graz' },
      { type: 'row', text: 'Name: Nut; Price: 1,20; Town: Wien' },
      { type: 'row', text: 'Name: Pin' },
    ]);
  });

  test('each part of a long row says which row and which column it is of', async () => {
    const sentences = Array.from({ length: 300 }, (_, n) => `Sentence ${n} says that the part lasts long.`);
    const csv = `Sku;Name;Description;Weight\nA-1;Washer;"${sentences.join(' ')}";5 kg\n`;
    const passages = await contents(csv, 'csv');
    expect(passages.length).toBeGreaterThan(5);
    const begins = 'Sku: A-1; Name: Washer; Description: ';
    expect(passages.map((content) => content.slice(0, begins.length))).toEqual(passages.map(() => begins));
    expect(sentences.filter((sentence) => !passages.some((content) => content.includes(sentence)))).toEqual([]);
    expect(passages.at(-1)).toMatch(/; Weight: 5 kg$/);
  });

  test('the separator is found where the first rows are long', async () => {
    const long = `"${'A, b, c. '.repeat(3_000)}"`;
    const [first] = await blocksOf(readCsv(Buffer.from(`Sku;Text\n${`1;${long}\n`.repeat(5)}`)));
    expect(first?.text).toMatch(/^Sku: 1; Text: A, b, c\./);
  });

  test('the error for a quote that is not closed names its row', async () => {
    await expectUnreadable('Name,Price\nBolt,3\n"Nut,1\nx,2\n', 'csv', /quotes below row 2 never ends/);
  });
});

describe('Markdown', () => {
  test('rows of a table know the names of its columns', () => {
    expect([...readMarkdown(Buffer.from('| A | B |\n|---|---|\n| 1 | 2 |\n'))].at(-1)).toEqual({
      type: 'row',
      text: '| 1 | 2 |',
      header: '| A | B |',
    });
  });

  test('headings, fences, tables and front matter are distinguished', async () => {
    const markdown = `---\ntitle: Handbook\n---\nIntro.\n\n# Shipping #\nBy **air**.\n\n\`\`\`sh\n# no heading\n\`\`\`\n\nReturns & [refunds](https://x.test)\n---\n| Day | Fee |\n|---|---|\n| 1 | 2 |\n\n#hashtag\n`;
    const passages = await extract(markdown, 'markdown');
    expect(passages.map(({ heading, content }) => [heading, content])).toEqual([
      [null, 'title: Handbook\n\nIntro.'],
      ['Shipping', 'By **air**.\n\n```sh\n# no heading\n```'],
      [
        'Shipping > Returns & [refunds](https://x.test)'.replace('[refunds](https://x.test)', 'refunds'),
        '| Day | Fee |\n|---|---|\n| 1 | 2 |\n\n#hashtag',
      ],
    ]);
  });

  test('headings lose their marks, rules are no text, and code in a list stays in one paragraph', async () => {
    const markdown =
      '# *A* `b` [c](https://x.test) \\* &amp; <d>\n\n---\n\n- one\n\n  ```\n  two\n\n  # three\n  ```\n\n> # four\n';
    expect(await extract(markdown, 'markdown')).toEqual([
      {
        seq: 0,
        heading: 'A b c * & <d>',
        page: null,
        content: '- one\n\n```\n  two\n\n  # three\n  ```\n\n> # four',
      },
    ]);
  });

  const read = (markdown: string) => [...readMarkdown(Buffer.from(markdown))];

  test('a document larger than what is parsed at once loses no line, wherever it is cut', () => {
    const fence = `\`\`\`\n# code\n\n${'x y\n'.repeat(20_000)}\`\`\``;
    const items = Array.from({ length: 24_000 }, (_, n) => `- item ${n}`);
    const blocks = read(`# Start\n\n${fence}\n\n# Middle\n${items.join('\n')}\n\n# End\nLast words.\n`);
    expect(blocks.filter(({ type }) => type === 'heading').map(({ text }) => text)).toEqual(['Start', 'Middle', 'End']);
    expect(blocks[1]?.text).toBe(fence);
    expect(blocks.slice(3, -2).flatMap(({ text }) => text.split('\n'))).toEqual(items);
    expect(blocks.at(-1)?.text).toBe('Last words.');
  });

  test.each(['# [[[[\n', '> - ', '* a\n  ', '<![CDATA[', '|a|\n|-|\n', '- a\n\n'])(
    '150,000 characters of %j are read in time',
    (piece) => {
      const before = process.cpuUsage();
      expect(read(`${piece.repeat(150_000 / piece.length)}\n\nend`).at(-1)?.text).toMatch(/end$/);
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000);
    },
  );
});

describe('plain text', () => {
  test('paragraphs are set apart by blank lines; lines broken to a width become one', async () => {
    const text =
      'A line that was broken by the editor because it\nwas too long for the width that it had been set\nto.\r\n \r\nMilk\nBread\n\n\n';
    expect(await contents(text, 'text')).toEqual([
      'A line that was broken by the editor because it was too long for the width that it had been set to.\n\nMilk\nBread',
    ]);
  });

  test.each(['text', 'markdown', 'csv', 'pdf', 'docx'] as const)(
    'an empty file says that it is empty: %s',
    async (kind) => {
      await expectUnreadable('', kind, /^The file is empty\. Upload it again/);
    },
  );

  test.each(['text', 'markdown', 'csv'] as const)('a file of spaces says that there is no text: %s', async (kind) => {
    await expectUnreadable(' \n\t\n \ufeff', kind, /no text in it/);
  });
});
