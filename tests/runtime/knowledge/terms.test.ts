import { SourceWords } from '../../../runtime/knowledge/sourceWords.ts';
import { editDistance, isMisspelling } from '../../../runtime/knowledge/spelling.ts';
import { headingTermsOf, lexeme, shapeOf, termsOf } from '../../../runtime/knowledge/terms.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

const words = (text: string) => termsOf(text).map(({ word }) => word);

describe('termsOf', () => {
  test.each([
    [
      'one form: full width, ligatures, case, soft hyphens',
      'ＡＢＣ ﬁne Straße STRASSE co\u00adop',
      'abc fine straße strasse coop',
    ],
    ['digits of other scripts are digits', '٣٠ ۱۲ １２', '30 12 12'],
    ['optional marks are left out', 'يومًا مُنتَجات שָׁלוֹם İstanbul', 'يوما منتجات שלום istanbul'],
    ['letters that are written for each other', 'أحمد إلى ΟΔΟΣ', 'احمد الي οδοσ'],
    ['vowel signs of other scripts stay', 'हिन्दी', 'हिन्दी'],
    ['nothing but signs and emoji has no words', '🎉👩‍👩‍👧 …!? — ()&|:*', ''],
    ['the article of an Arabic word may be left out', 'المنتجات', 'المنتجات منتجات'],
    ['Thai is cut by a dictionary', 'คืนสินค้า', 'คืน สินค้า'],
    ['Chinese is cut by a dictionary and into pairs', '退货政策', '退 货 政策 退货 货政'],
    ['Korean words give pairs, which find them without their particles', '반품은', '반품은 반품 품은'],
    ['scripts side by side', 'iPhone手机', 'iphone 手机'],
  ])('%s', (_title, text, expected) => {
    expect(words(text).join(' ')).toBe(expected);
  });

  test.each(['A-1234', 'a1234', 'A_1234', 'a/1234', 'Ａ‑1234'])('a code is found however it is written: %s', (code) => {
    expect(words(code)).toContain('a1234');
  });

  test('parts of an expression stand one after the other, the whole where it begins', () => {
    expect(termsOf('see v2.3 now')).toMatchObject([
      { word: 'see', position: 1 },
      { word: 'v2', position: 2 },
      { word: '3', position: 3 },
      { word: 'v23', position: 2 },
      { word: 'now', position: 4 },
    ]);
  });

  test('data is no word: it is cut, and its place is one that PostgreSQL keeps', () => {
    expect(words('x'.repeat(5000))).toEqual(['x'.repeat(64)]);
    expect(termsOf('a '.repeat(20_000)).at(-1)?.position).toBe(16_383);
  });

  test('half of a surrogate pair makes no broken word', () => {
    for (const { word } of termsOf(`${'𝒳'.repeat(80)} 𠀀𠀁\ud840 x\udc00`)) expect(word.isWellFormed()).toBe(true);
  });
});

/** Writes one passage, in a language whose stems are capitals. */
async function written(heading: string, content: string, language?: string) {
  const words = new SourceWords();
  const read = words.read(headingTermsOf(heading), termsOf(content), language);
  await words.learn({
    plain: async (asked) => new Map(asked.filter((word) => word === 'été').map((word) => [word, 'ete'])),
    stems: async (_language, asked) => new Map(asked.map((word) => [word, word.toUpperCase()])),
  });
  return { ...words.write(read), counts: [...words.wordCounts()] };
}

test('a long text without spaces is cut into words and pairs in linear time', async () => {
  const text = Array.from({ length: 20_000 }, (_, place) =>
    String.fromCharCode(0x4e00 + ((place * 7_919) % 5_000)),
  ).join('');
  expect(await mainThreadMs(() => termsOf(text))).toBeLessThan(250);
});

describe('SourceWords', () => {
  test('heading first, with its label; without accents; each word once', async () => {
    expect(await written('Été', 'un été, un')).toMatchObject({
      text: "'ete':1C,3 'un':2,4",
      counts: [
        ['', 1],
        ['un', 1],
        ['ete', 1],
      ],
    });
  });

  test('the stems of the innermost heading stand three times, those of the headings above it once', async () => {
    const heading = headingTermsOf('Part One > Chapter Two');
    expect(heading).toMatchObject({ terms: [{}, { word: 'one', position: 2 }, { position: 3 }, {}], innermost: 3 });
    const { text, length } = await written('Part One > Chapter Two', 'text', 'loud');
    expect(text).toBe(
      "'part':1C '~PART':1 'one':2C '~ONE':2 'chapter':3C '~CHAPTER':3,8,12 'two':4C '~TWO':4,9,13 'text':5 '~TEXT':5",
    );
    expect(length).toBe(5);
  });

  test('keeps as many places of a word as PostgreSQL does', async () => {
    const { text } = await written('', 'a '.repeat(1000));
    expect(text.split(',')).toHaveLength(255);
  });

  test('asks for each word once in each language, and counts the passages that have it', async () => {
    const words = new SourceWords();
    const asked: string[] = [];
    const lookup = {
      plain: async (some: readonly string[]) => {
        asked.push(...some);
        return new Map<string, string>();
      },
      stems: async (language: string, some: readonly string[]) => {
        asked.push(...some.map((word) => `${language} ${word}`));
        return new Map(some.map((word) => [word, word.slice(0, 3)]));
      },
    };
    for (const language of ['one', 'other', 'one']) {
      const read = words.read(headingTermsOf(''), termsOf('über über uber'), language);
      await words.learn(lookup);
      words.write(read);
    }
    expect(asked).toEqual(['über', 'one über', 'one uber', 'other über', 'other uber']);
    expect(Object.fromEntries(words.commonCounts(3))).toEqual({ über: 3, uber: 3, '~übe': 3, '~ube': 3 });
  });

  test('quotes whatever a word is made of', () => {
    expect(lexeme("a'b\\c:* & !")).toBe("'a''b\\\\c:* & !'");
  });
});

describe('shapeOf', () => {
  test('has an ASCII character for each letter, different ones for the letters of an alphabet', () => {
    expect(shapeOf('return')).toBe('return');
    expect(shapeOf('возврат')).toMatch(/^[a-z0-9]{7}$/);
    for (const alphabet of ['абвгдежзийклмнопрстуфхцчшщъыьэюя', 'αβγδεζηθικλμνξοπρστυφχψω', 'אבגדהוזחטיכלמנסעפצקרשת']) {
      expect(new Set(shapeOf(alphabet)).size).toBe([...alphabet].length);
    }
  });

  test('is empty for codes and short words, which stand for nothing like them', () => {
    expect(['a1234', 'abc', '退货'].map(shapeOf)).toEqual(['', '', '']);
  });
});

describe('editDistance', () => {
  test.each([
    ['return', 'return', 0],
    ['retrun', 'return', 1],
    ['delivry', 'delivery', 1],
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
    ['возрват', 'возврат', 1],
  ])('%s and %s: %d', (one, other, distance) => {
    expect(editDistance(one, other)).toBe(distance);
    expect(editDistance(other, one)).toBe(distance);
  });

  test('a long word may have more errors than a short one', () => {
    expect(isMisspelling('itme', 'item')).toBe(true);
    expect(isMisspelling('cash', 'cart')).toBe(false);
    expect(isMisspelling('delviery', 'delivery')).toBe(true);
  });
});
