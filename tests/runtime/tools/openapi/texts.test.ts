import { fieldText, operationText } from '../../../../runtime/tools/openapi/texts.ts';

describe('the text of an operation', () => {
  const said = (description: string, summary?: string, max = 700) => operationText({ summary, description }, max);

  test.each([
    [
      '<p>Creates a <code>new</code> price.</p>\n\n<p>See <a href="/docs/a">the guide</a> &amp; more&#39;s.</p>',
      "Creates a new price.\n\nSee the guide & more's.",
    ],
    ['Lists<br>lines<ul><li>one</li><li>two</li></ul>', 'Lists\nlines\n\n- one\n- two'],
    ['Takes <owner>/<repo> and a < b > c', 'Takes <owner>/<repo> and a < b > c'],
    [
      'See [the docs](https://a.example/x_(y)#z "Docs") and ![a picture](https://a.example/p.png)[issues][1].',
      'See the docs and [issues][1].',
    ],
    ['Lists pulls.\n\n> [!NOTE]\n> Only open ones.', 'Lists pulls.\n\nOnly open ones.'],
    [
      '<p>Lists them.</p> <note> <p>It is <i>slow</i>.</p> </note> <p>Use it &mdash; often.</p>',
      'Lists them.\n\nUse it — often.\n\nnote: It is slow.',
    ],
    ['See [the\nguide](https://a.example).', 'See the\nguide.'],
    ['&#0; &#x110000; &bogus;', '&#0; &#x110000; &bogus;'],
  ])('%j', (description, text) => {
    expect(said(description)).toBe(text);
  });

  test('the summary comes first, and once', () => {
    expect(said('Get a pet', 'Get a pet')).toBe('Get a pet');
    expect(said('With its tags.', 'Get a pet')).toBe('Get a pet\n\nWith its tags.');
  });

  test('what is said of media types is left out, with its list', () => {
    const text =
      'Lists issues.\n\nThis endpoint supports the following media types:\n\n- **`application/vnd.x.raw+json`**: raw.\n- another\n\nIt is paged.';
    expect(said(text)).toBe('Lists issues.\n\nIt is paged.');
  });

  test('notes go before what an operation does when there is no room', () => {
    const text = `Lists.\n\n**Note:** ${'Only some. '.repeat(10)}\n\nOpen and closed ones.`;
    expect(said(text, undefined, 60)).toBe('Lists.\n\nOpen and closed ones.');
    expect(said('**Note:** a\n\nLists.')).toBe('Lists.\n\n**Note:** a');
  });

  test('a long text ends with a whole sentence, a long sentence with a whole word', () => {
    expect(said('One two three. Four five six. Seven eight nine.', undefined, 35)).toBe(
      'One two three. Four five six.',
    );
    expect(said('One two three four five six seven', undefined, 20)).toBe('One two three four…');
  });
});

test.each([
  ['The <b>number</b>.\n\nSee [here](https://a.example).', 200, 'The number. See here.'],
  ['Labels to set. _NOTE: Only users with push access can set labels._', 200, 'Labels to set.'],
  ['**Note:** Only this.', 200, 'Only this.'],
  ['> [!WARNING]\n> Only this.', 200, 'Only this.'],
  ['Three words here', 0, ''],
  [undefined, 200, ''],
  [7, 200, ''],
])('the text of a field: %j', (description, max, text) => {
  expect(fieldText(description, max)).toBe(text);
});

test.each([
  '<a '.repeat(1_000_000),
  '['.repeat(1_000_000),
  '![a]('.repeat(1_000_000),
  '[a]((('.repeat(1_000_000),
  '_NOTE:'.repeat(1_000_000),
  '> '.repeat(1_000_000),
  '&#1;'.repeat(1_000_000),
  '\n- '.repeat(1_000_000),
  'x'.repeat(8_000_000),
])('a description of megabytes takes no time (%#)', (description) => {
  expect(operationText({ description }, 700).length).toBeLessThanOrEqual(700);
  expect(fieldText(description, 300).length).toBeLessThanOrEqual(300);
}); // milliseconds
