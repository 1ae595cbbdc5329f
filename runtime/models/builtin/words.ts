/** The significant words of a text, each with its weight. */
export type Meaning = ReadonlyMap<string, number>;

/** Scripts without spaces between words, and Korean, whose short words carry their particles. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const WORDS = /[\p{L}\p{N}]+/gu;
const MIN_WORD_CHARS = 3;
/** Two forms of a word share at least this part of the longer one at their beginning. */
const MIN_STEM_SHARE = 0.55;
const MIN_STEM_CHARS = 4;
const PAIR_WEIGHT = 2;

/** Removes accents and case. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase();
}

/**
 * Returns the words of a text with three letters or more; for scripts without spaces each pair of adjacent characters. Long words
 * weigh more, because short words are mostly the same in every text of a language.
 */
export function meaningOf(text: string): Meaning {
  const meaning = new Map<string, number>();
  const spaced = folded(text).replace(UNSPACED, (run) => {
    const characters = Array.from(run);
    if (characters.length === 1) meaning.set(run, PAIR_WEIGHT);
    for (const [at, next] of characters.slice(1).entries()) meaning.set(`${characters[at]}${next}`, PAIR_WEIGHT);
    return ' ';
  });
  for (const [word] of spaced.matchAll(WORDS)) {
    const { length } = Array.from(word);
    if (length >= MIN_WORD_CHARS) meaning.set(word, length - MIN_WORD_CHARS + 1);
  }
  return meaning;
}

function isForm(one: string, other: string): boolean {
  const longer = Math.max(one.length, other.length);
  const least = Math.max(MIN_STEM_CHARS, Math.ceil(longer * MIN_STEM_SHARE));
  return Math.min(one.length, other.length) >= least && one.slice(0, least) === other.slice(0, least);
}

/** Returns the share of a question's words that a sentence has, from 0 to 1, by weight. Forms of a word count as the word. */
export function likeness(question: Meaning, sentence: Meaning): number {
  let all = 0;
  let shared = 0;
  const words = [...sentence.keys()];
  for (const [word, weight] of question) {
    all += weight;
    if (sentence.has(word) || words.some((other) => isForm(word, other))) shared += weight;
  }
  return all === 0 ? 0 : shared / all;
}
