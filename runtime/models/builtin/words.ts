/** The words of a text that mean something, each with its weight. */
export type Meaning = ReadonlyMap<string, number>;

/** Scripts that put no spaces between words, and Korean's: its words are short, and what is added to them is not parted off. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const WORDS = /[\p{L}\p{N}]+/gu;
const MIN_WORD_CHARS = 3;
/** Of the longer word: what two forms of one word have in common at their beginning, at least. */
const MIN_STEM_SHARE = 0.55;
const MIN_STEM_CHARS = 4;
const PAIR_WEIGHT = 2;

/** Without accents and case. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase();
}

/**
 * The words of a text, without those under three letters; for scripts without spaces each two characters that stand together.
 * Long words weigh more: short ones are mostly the same in every text of a language.
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

/** How much of a question a sentence has, from 0 to 1, by the weight of the words; forms of a word count as the word. */
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
