import { uiAsMarkdown } from '../../../runtime/generativeUi/asText.ts';
import { whatsappPieces } from '../../../runtime/replies/whatsappText.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

const shown = (markdown: string) => whatsappPieces(markdown).join('\n=====\n');

describe('Markdown as WhatsApp shows it', () => {
  test.each([
    ['bold', 'This is **bold** and __so__.', 'This is *bold* and *so*.'],
    ['italic', 'An *italic* and an _italic_ word.', 'An _italic_ and an _italic_ word.'],
    ['both', '***both***', '_*both*_'],
    ['struck', '~~old~~ new', '~old~ new'],
    ['code', 'Run `a **b** c`.', 'Run `a **b** c`.'],
    ['a heading', '## Your *order* ##\n\nIt came.', '*Your _order_*\n\nIt came.'],
    ['a link', 'See [the shop](https://shop.example/a).', 'See the shop (https://shop.example/a).'],
    ['a link that is its address', '[https://a.example](https://a.example)', 'https://a.example'],
    ['a picture', '![Logo](https://a.example/l.png)', 'Logo: https://a.example/l.png'],
    ['a list', '* one\n+ two\n- three', '- one\n- two\n- three'],
    ['a rule', 'a\n\n---\n\nb', 'a\n\nb'],
    ['what is no mark', '2 * 3 * 4 = 24, snake_case_name, 5*', '2 * 3 * 4 = 24, snake_case_name, 5*'],
    ['escaped marks', '\\*not bold\\*', '*not bold*'],
    ['a quotation', '> said', '> said'],
  ])('%s', (_, markdown, expected) => {
    expect(shown(markdown)).toBe(expected);
  });

  test('a table is a list with a line for each row', () => {
    const table = '| City | Price |\n| --- | ---: |\n| Oslo | **10** |\n| Bergen | 20 |\n\nThat is all.';
    expect(shown(table)).toBe('- City: Oslo, Price: *10*\n- City: Bergen, Price: 20\n\nThat is all.');
  });

  test('code stays as it is', () => {
    expect(shown('```ts\nconst a = **b**;\n| x | y |\n```')).toBe('```\nconst a = **b**;\n| x | y |\n```');
  });

  test('white space is nothing', () => {
    expect(whatsappPieces(' \n\n ')).toEqual([]);
  });
});

describe('a long message', () => {
  test('is cut where a paragraph ends, in pieces of at most 4,096 characters, and loses nothing', () => {
    const paragraphs = Array.from({ length: 60 }, (_, place) => `${place} ${'word '.repeat(60)}`.trim());
    const pieces = whatsappPieces(paragraphs.join('\n\n'));
    expect(pieces.length).toBeGreaterThan(4);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
    expect(pieces.join('\n\n')).toBe(paragraphs.join('\n\n'));
  });

  test('closes and opens code at a cut, and no character is cut in two', () => {
    const pieces = whatsappPieces(`\`\`\`\n${'😀'.repeat(5_000)}\n\`\`\``);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(4_096);
      expect(piece.isWellFormed()).toBe(true);
      expect(piece.match(/^```/gm)).toHaveLength(2);
    }
  });

  test('has 20 pieces at most, and the last one says that it was cut off', () => {
    const pieces = whatsappPieces('word '.repeat(100_000));
    expect(pieces).toHaveLength(20);
    expect(pieces.at(-1)).toMatch(/\[cut off\]$/);
    expect(pieces.at(-1)?.length).toBeLessThanOrEqual(4_096);
  });

  test.each(['*', '**a ', '_', '[', '|', '|-', ' ', '#', '`', '~~', '\\', '![a](', '\n'])(
    'made of %j alone is read in a moment',
    async (part) => {
      const text = part.repeat(Math.ceil(160_000 / part.length));
      expect(await mainThreadMs(() => whatsappPieces(text))).toBeLessThan(2_000);
    },
  );
});

test('components are text', () => {
  const ui = {
    type: 'card',
    title: 'Order',
    children: [
      { type: 'keyValue', items: [{ key: 'State', value: 'sent' }] },
      { type: 'table', columns: ['City', 'Price'], rows: [['Oslo', 10]] },
      { type: 'button', label: 'Track', url: 'https://a.example/t' },
      { type: 'list', ordered: true, items: ['a', 'b'] },
      { type: 'divider' },
    ],
  };
  expect(uiAsMarkdown(ui)).toBe(
    '**Order**\n\nState: sent\n\n- City: Oslo, Price: 10\n\nTrack: https://a.example/t\n\n1. a\n2. b',
  );
});
