import { type KnownWord, planSearch } from '../../../runtime/knowledge/plan.ts';
import { termsOf } from '../../../runtime/knowledge/terms.ts';

/** A word of the workspace that looks like one of the query. */
type Like = Omit<KnownWord, 'found'>;

/** What the index knows: words of the query in their order with their counts, and words like them. */
function known(query: string, counts: Record<string, number>, all: number, searched = 10_000, like: Like[] = []) {
  const asked = termsOf(query);
  const rows: KnownWord[] = [
    { ordinal: 0, word: '', passages: all, found: 0, likeness: 1 },
    { ordinal: -1, word: '', passages: searched, found: searched, likeness: 1 },
    ...asked.map(({ word }, index) => ({
      ordinal: index + 1,
      word,
      passages: counts[word] ?? 0,
      found: 0,
      likeness: 1,
    })),
    ...like.map((one) => ({ ...one, found: 0 })),
  ];
  return planSearch(rows, asked);
}

const ALL = 100_000;

test('without a known word there is nothing to look for', () => {
  expect(known('xyz', {}, ALL)).toBeUndefined();
  expect(planSearch([], [])).toBeUndefined();
});

test('all passages are ranked when they are few', () => {
  expect(known('red fox', { red: 300, fox: 2 }, 500, 500)?.candidates).toEqual({ query: null, inverted: false });
});

test('rare words choose the passages, common ones rank them', () => {
  const plan = known('the red fox', { the: 99_000, red: 200, fox: 20 }, ALL);
  expect(plan?.candidates).toEqual({ query: "'fox' | 'red'", inverted: true });
  const weights = Object.fromEntries((plan?.parts ?? []).map(({ query, weight }) => [query, weight]));
  expect(weights["'fox'"]).toBeGreaterThan(weights["'red'"] ?? 0);
  expect(weights["'the'"]).toBeLessThan(0.02);
  expect(weights["'red' <-> 'fox'"]).toBeCloseTo((weights["'red'"] ?? 0) / 4);
});

test('in a large collection, what is like a word that has stems chooses no passage before the word does', () => {
  const rows: KnownWord[] = [
    { ordinal: 0, word: '', passages: ALL, found: 0, likeness: 1 },
    { ordinal: -1, word: '', passages: ALL, found: 0, likeness: 1 },
    { ordinal: 1, word: 'red', passages: 900, found: 900, likeness: 1 },
    { ordinal: 1, word: '~red', passages: 0, found: 900, likeness: 1 },
    { ordinal: 1, word: 'redder', passages: 3, found: 0, likeness: 0.6 },
    { ordinal: 2, word: 'fox', passages: 20, found: 20, likeness: 1 },
    { ordinal: 2, word: '~fox', passages: 0, found: 25, likeness: 1 },
    { ordinal: 2, word: 'foxes', passages: 5, found: 0, likeness: 0.6 },
  ];
  const chosen = (stems: boolean) =>
    planSearch(
      rows.filter(({ word }) => stems || !word.startsWith('~')),
      termsOf('red fox'),
    )?.candidates.query;
  expect(chosen(true)).toBe("'fox' | '~fox' | 'foxes'");
  expect(chosen(false)).toBe("'redder' | 'foxes' | 'fox'");
});

test('common words must come together, and alone when that is too little', () => {
  const plan = known('red fox', { red: 5_000, fox: 8_000 }, ALL);
  expect(plan?.candidates).toEqual({ query: "('red' & 'fox')", inverted: true });
  expect(plan?.wider).toEqual({ query: "'red'", inverted: true });
  expect(known('fox', { fox: 60_000 }, ALL)).toMatchObject({ candidates: { query: "'fox'" }, wider: undefined });
});

test('in a large collection, pairs of words choose the passages beside rare words', () => {
  const chosen = (counts: Record<string, number>, all = ALL) => known('red fox cub', counts, all)?.candidates.query;
  expect(chosen({ red: 2_000, fox: 3_000, cub: 4_000 })).toBe("('red' & ('fox' | 'cub')) | ('fox' & 'cub')");
  expect(chosen({ red: 2_000, fox: 3_000, cub: 250 })).toBe("'cub' | ('red' & 'fox')");
  // The index would go through too much for the others.
  expect(chosen({ red: 2_000, fox: 9_000, cub: 9_000 })).toBe("('red' & 'fox')");
  expect(chosen({ red: 800, fox: 900, cub: 1_000 }, 9_000)).toBe("('red' & 'fox')");
});

test('in a large collection, a word that is asked for again, misspelt or in another form, makes no pair', () => {
  const rows: KnownWord[] = [
    { ordinal: 0, word: '', passages: ALL, found: 0, likeness: 1 },
    { ordinal: -1, word: '', passages: ALL, found: 0, likeness: 1 },
    { ordinal: 1, word: 'fox', passages: 2_000, found: 2_000, likeness: 1 },
    { ordinal: 1, word: '~fox', passages: 0, found: 2_100, likeness: 1 },
    { ordinal: 2, word: 'red', passages: 10_000, found: 10_000, likeness: 1 },
  ];
  const typo: KnownWord[] = [
    { ordinal: 3, word: 'fpx', passages: 0, found: 0, likeness: 1 },
    { ordinal: 3, word: 'fox', passages: 2_000, found: 0, likeness: 0.6 },
  ];
  const form: KnownWord[] = [
    { ordinal: 3, word: 'foxes', passages: 1_500, found: 1_500, likeness: 1 },
    { ordinal: 3, word: '~fox', passages: 0, found: 2_100, likeness: 1 },
  ];
  const chosen = (others: KnownWord[], query: string) =>
    planSearch([...rows, ...others], termsOf(query))?.candidates.query;
  expect(chosen(typo, 'fox red fpx')).toBe("(('fox' | '~fox') & 'red')");
  expect(chosen(form, 'fox red foxes')).toBe("(('fox' | '~fox') & 'red')");
});

test('sources are read themselves where the index would go through more', () => {
  const common = { red: 9_000, fox: 8_000 };
  expect(known('red fox', common, ALL, 2_000)?.candidates).toMatchObject({ inverted: false });
  expect(known('red fox', { red: 9, fox: 8 }, ALL, 2_000)?.candidates).toMatchObject({ inverted: true });
});

test('a word like one that is there counts less, and no more than that one', () => {
  const like = [{ ordinal: 1, word: 'foxes', passages: 2, likeness: 0.6 }];
  const plan = known('fox', { fox: 5_000 }, ALL, 10_000, like);
  const [own, other] = plan?.parts ?? [];
  expect(own).toMatchObject({ query: "'fox'", graded: true });
  expect(other).toMatchObject({ query: "'foxes'", graded: false });
  expect(other?.weight).toBeCloseTo((own?.weight ?? 0) * 0.3);
});

test('for a word that is not there, only what may be meant stands in', () => {
  const like = [
    { ordinal: 1, word: 'return', passages: 50, likeness: 0.27 },
    { ordinal: 1, word: 'retail', passages: 50, likeness: 0.3 },
    { ordinal: 1, word: 'retrunning', passages: 50, likeness: 0.6 },
  ];
  expect(known('retrun', {}, ALL, 10_000, like)?.parts.map(({ query }) => query)).toEqual(["'return' | 'retrunning'"]);
  expect(known('retrun', {}, ALL, 10_000, like.slice(1, 2))).toBeUndefined();
});

test('of a long query the rarest words count', () => {
  const words = Array.from({ length: 60 }, (_, index) => `w${index}x`);
  const counts = Object.fromEntries(words.map((word, index) => [word, 100 + index]));
  const exact = known(words.join(' '), counts, ALL)?.parts.filter(({ graded }) => graded);
  expect(exact?.map(({ query }) => query)).toEqual(words.slice(0, 16).map((word) => `'${word}'`));
});

test('of a long query in a script without spaces more count, because pairs of characters are words there', () => {
  const query = '端末での作業をすべてファイルに保存したいのですが可能ですか今日';
  const asked = termsOf(query).map(({ word }) => word);
  const plan = known(query, Object.fromEntries(asked.map((word, index) => [word, 100 + index])), ALL);
  expect(new Set(asked).size).toBeGreaterThan(32);
  expect(plan?.words).toHaveLength(32);
  const mixed = Array.from({ length: 20 }, (_, index) => `w${index}x`).concat('端末', '保存');
  const both = known(mixed.join(' '), Object.fromEntries(mixed.map((word) => [word, 100])), ALL);
  expect(both?.words.filter(({ word }) => word.endsWith('x'))).toHaveLength(16);
  expect(both?.words.filter(({ word }) => !word.endsWith('x'))).toHaveLength(2);
});
