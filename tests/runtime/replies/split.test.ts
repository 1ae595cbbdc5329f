import { splitReply } from '../../../runtime/replies/split.ts';
import { anyReply, anySoup, seeded } from './replies.ts';

/** Paragraphs that are long enough to be messages. */
const ONE = 'The first paragraph is long enough to be a message.';
const TWO = 'The second paragraph is long enough to be a message, too.';
const THREE = 'And so is the third one of the paragraphs, if only just.';

const joined = (...parts: string[]) => parts.join('\n\n');

test('each paragraph is a message, without the white space around it', () => {
  expect(splitReply(`\n ${ONE}  \n\n \t\n\n${TWO}\n`)).toEqual([ONE, TWO]);
  expect(splitReply(`${ONE}\r\n\r\n${TWO}`)).toEqual([ONE, TWO]);
});

test('a text without blank lines is one message, and an empty or blank text is none', () => {
  expect(splitReply(`${ONE}\n${TWO}`)).toEqual([`${ONE}\n${TWO}`]);
  expect(splitReply('Yes.')).toEqual(['Yes.']);
  for (const empty of ['', ' \n\n\t\n']) expect(splitReply(empty)).toEqual([]);
});

describe('stays in one message', () => {
  const code = '```ts\nconst a = 1;\n\n\nconst b = 2;\n\n// The end of it, which is long enough.\n```';
  const tildes = '~~~\nfirst\n\n```\n\nsecond line of the code, not the last\n~~~~';
  test.each([
    ['code with blank lines', [ONE, code, TWO]],
    ['code between tildes, with backticks in it', [ONE, tildes, TWO]],
    ['code that is never closed', [ONE, '```\nfirst line of the code, and a blank one\n\nsecond line of it all']],
    [
      'a list with space between its items',
      [ONE, '2. Kittens, which sleep all day\n\n3. Dogs, which bark all night', TWO],
    ],
    [
      'an item of several paragraphs',
      [ONE, '2. Cats sleep.\n\n   They do so all day long.\n\n   ```\n   z\n\n   z\n   ```', TWO],
    ],
    ['code that an item begins with', [ONE, '2. ```\n   cats\n\n   dogs\n   ```\n3. The end of a list of two', TWO]],
    ['a table', [ONE, '| animal | does it sleep? |\n|---|---|\n| cat | all day long |', TWO]],
    ['a quotation of two paragraphs', [ONE, '> Cats sleep all day long.\n\n> Dogs bark all night long.', TWO]],
    ['indented code behind a paragraph', [`${ONE}\n\n    cats\n\n    dogs`, TWO]],
  ])('%s', (_what, messages) => {
    expect(splitReply(joined(...messages))).toEqual(messages);
  });

  test.each([
    ['a list with the line before it', `${ONE}\n\n- cats\n- dogs`],
    ['a numbered list with the line before it', `${ONE}\n\n1. cats\n2. dogs`],
    [
      'a table with the line that announces it',
      'These are all the animals that there are:\n\n| cat | dog |\n|---|---|\n| 1 | 2 |',
    ],
    [
      'code with the line that announces it',
      'これを実行すると、すべての動物の一覧が画面に表示されますので、どうぞお試しください：\n\n```\ncats --all\n```',
    ],
    ['a heading with the paragraph below it', `## Everything that anybody knows about cats\n\n${ONE}`],
    ['an underlined heading with the paragraph below it', `Everything that anybody knows about cats\n---\n\n${ONE}`],
  ])('%s', (_what, message) => {
    expect(splitReply(joined(TWO, message, THREE))).toEqual([TWO, message, THREE]);
  });

  test.each([
    [
      'a list behind code',
      ['```\nall the cats that there are, and some dogs\n```', '- cats\n- dogs and mice and all the other animals'],
    ],
    ['a table behind a line that announces nothing', [ONE, '| animal | does it sleep? |\n|---|---|\n| cat | yes |']],
    ['a paragraph behind a colon', ['These are all the animals that there are:', ONE]],
  ])('but not %s', (_what, messages) => {
    expect(splitReply(joined(...messages))).toEqual(messages);
  });

  test('text that follows without a blank line', () => {
    const text = `${ONE}\n2. cats\n| cat | dog |\n|---|---|\n\`\`\`\ncats\n\`\`\`\n${TWO}\n# Heading\n${THREE}`;
    expect(splitReply(text)).toEqual([text]);
  });

  test('but numbered sections are messages of their own', () => {
    const sections = ['1. Cats', ONE, '2. Dogs', TWO, '3. Mice', THREE];
    expect(splitReply(joined(...sections))).toEqual([
      joined('1. Cats', ONE),
      joined('2. Dogs', TWO),
      joined('3. Mice', THREE),
    ]);
  });
});

describe('a short piece', () => {
  test('is joined to the next, and the last one to the one before', () => {
    expect(splitReply(joined('Sure!', ONE, 'Well.', TWO, 'Anything else?'))).toEqual([
      joined('Sure!', ONE),
      joined('Well.', TWO, 'Anything else?'),
    ]);
    expect(splitReply('Hi.\n\nYes.\n\nBye.')).toEqual(['Hi.\n\nYes.\n\nBye.']);
  });

  test('has fewer than 40 characters, counted as code points', () => {
    const [short, enough] = ['🙂'.repeat(39), '🙂'.repeat(40)];
    expect(splitReply(joined(short, ONE))).toHaveLength(1);
    expect(splitReply(joined(enough, ONE))).toEqual([enough, ONE]);
  });
});

test('there are six messages at most: the last one has the rest', () => {
  const all = Array.from({ length: 9 }, (_, n) => `${n}: ${ONE}`);
  expect(splitReply(joined(...all.slice(0, 6)))).toEqual(all.slice(0, 6));
  expect(splitReply(joined(...all))).toEqual([...all.slice(0, 5), joined(...all.slice(5))]);
});

describe('a paragraph of more than 1,200 characters', () => {
  test.each([
    ['English', 'Cats sleep for most of the day, and nobody knows why. ', /\.$/],
    ['Japanese', '猫は一日の大半を眠って過ごしますが、その理由は誰にも分かりません。', /。$/],
    ['Hindi', 'बिल्लियाँ दिन का अधिकांश समय सोती हैं और कोई नहीं जानता क्यों। ', /।$/],
    ['Arabic', 'تنام القطط معظم اليوم، فهل يعرف أحد السبب؟ ', /؟$/],
    ['German with abbreviations', 'Die Katze von Dr. Müller schläft z. B. am 3. Mai den ganzen Tag lang. ', /lang\.$/],
    ['wrapped English', 'Cats sleep for most of the day,\nand nobody\nknows why. ', /why\.$/],
  ])('is cut at the ends of sentences, in %s', (_language, sentence, end) => {
    const text = sentence.repeat(Math.ceil(2500 / sentence.length));
    const messages = splitReply(text);
    expect(messages).toHaveLength(Math.ceil(text.length / 1200));
    for (const message of messages) {
      expect(message).toMatch(end);
      expect(message.length).toBeGreaterThan(700);
      expect(message.length).toBeLessThan(1300);
    }
  });

  test('is not cut when it is shorter or has one sentence only', () => {
    const short = 'Cats sleep all day. '.repeat(60).trim();
    expect(short.length).toBeLessThanOrEqual(1200);
    for (const text of [short, 'cats and dogs '.repeat(200).trim()]) expect(splitReply(text)).toEqual([text]);
  });

  test('is not cut within code or a link', () => {
    const parts = Array.from(
      { length: 80 },
      (_, n) => `[Run \`${n}. And\`. Stop? Yes. Then go](https://a.example/?q. X?y!Z)`,
    );
    const messages = splitReply(parts.map((part) => `Also ${part} is here now. `).join(''));
    expect(messages.length).toBeGreaterThan(1);
    expect(parts.filter((part) => messages.some((message) => message.includes(part)))).toEqual(parts);
  });

  test('is not cut within a table without bars at its sides', () => {
    const table = `a | b\n--- | ---\n${'One. Two. | Three. Four.\n'.repeat(80)}`.trim();
    expect(splitReply(table)).toEqual([table]);
  });

  test('is cut even if a list follows without a blank line, and the list stays whole', () => {
    const list = '- Cats sleep. All day.\n'.repeat(80).trim();
    const messages = splitReply(`${'Cats sleep all day. '.repeat(100)}\n${list}`);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.at(-1)).toContain(list);
  });
});

describe('of any text', () => {
  const solid = (text: string) => text.replace(/\s+/g, '');
  const sound = (text: string, messages: string[]) => {
    expect(solid(messages.join('\n\n'))).toBe(solid(text));
    expect(messages.length).toBeLessThanOrEqual(6);
    for (const message of messages) expect(message).toBe(message.trim());
    expect(messages).not.toContain('');
    if (messages.length > 1) for (const message of messages) expect([...message].length).toBeGreaterThanOrEqual(40);
  };

  test('nothing but white space is lost or changed, and no block is cut', () => {
    const random = seeded(1);
    let split = 0;
    for (let run = 0; run < 1500; run += 1) {
      const { text, blocks } = anyReply(random);
      const messages = splitReply(text);
      sound(text, messages);
      for (const block of blocks) expect(messages.filter((message) => message.includes(block))).not.toEqual([]);
      if (messages.length > 1) split += 1;
    }
    expect(split).toBeGreaterThan(500);
  });

  test('nothing is lost of text that is not valid Markdown', () => {
    const random = seeded(2);
    for (let run = 0; run < 3000; run += 1) {
      const text = anySoup(random);
      sound(text, splitReply(text));
    }
  });
});

test('a reply of megabytes is split without being parsed as a whole', () => {
  const text = 'This line is long enough to be a message.\n\n'.repeat(100_000);
  const before = process.cpuUsage();
  const messages = splitReply(text);
  const { user, system } = process.cpuUsage(before);
  expect(messages).toHaveLength(6);
  expect(messages.join('\n\n')).toBe(text.trim());
  // Microseconds of the processor. It took ten seconds and more.
  expect(user + system).toBeLessThan(3_000_000);
});
