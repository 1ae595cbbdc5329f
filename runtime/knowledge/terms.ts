import { cutText } from '../../core/text.ts';
/** A word as the index has it, and where in the text it stands: the first word is 1. Words cut from one run may share a place. */
export interface Term {
  word: string;
  position: number;
}

/** PostgreSQL keeps no position beyond this one (documentation, "Text Search Type Limitations"). */
const LAST_POSITION = 16_383;
/** In UTF-16 units. What is longer is no word that anybody looks for. */
const MAX_WORD_CHARS = 64;

/** Letters and digits, and what joins them to one expression: codes, versions, amounts, addresses, elisions, and Persian's non-joiner. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:['’ʼ\-‐‑_./:@+&,·\u200c][\p{L}\p{M}\p{N}]+)*/gu;
const JOINT = /['’ʼ\-‐‑_./:@+&,·\u200c]/u;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Scripts where two characters are already telling, and where one word is cut in several ways, or carries its particles. */
const SYLLABIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]{2,}/gu;
/** What is written or left out at will: combining accents, Hebrew points, Arabic vowel signs and stretching. */
const OPTIONAL_MARKS =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g;
const INVISIBLE = /\u00ad|\u200d|\u2060|\ufeff/g;
const ARABIC_ARTICLE = /^ال(?=\p{L}{3})/u;

/** Letters of one sound that people write for each other. The Arabic ones are those of Lucene's ArabicNormalizer. */
const SAME: Readonly<Record<string, string>> = { ς: 'σ', أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ة: 'ه' };
const SAME_LETTERS = /[ςأإآٱىة\u0660-\u0669\u06f0-\u06f9]/g;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * The words of a text in any language, in one form each: NFKC, lower case, without what is optional in writing. Accents on Latin,
 * Greek and Cyrillic letters are left to PostgreSQL's `unaccent`. Scripts without spaces are cut by ICU's dictionaries; Chinese,
 * Japanese and Korean give pairs of characters as well, because one word may be cut in two ways. An expression such as A-1234
 * gives its parts and the whole without its joints, so that it is found in whichever way it is written.
 */
export function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  let position = 0;
  const put = (word: string) => {
    terms.push({ word: cutText(word, MAX_WORD_CHARS), position: Math.min(position, LAST_POSITION) });
  };
  const next = (word: string) => {
    position += 1;
    put(word);
    if (ARABIC_ARTICLE.test(word)) put(word.replace(ARABIC_ARTICLE, ''));
  };
  for (const [run] of normalise(text).matchAll(RUN)) {
    const first = position + 1;
    const parts = run.split(JOINT);
    const words = parts.flatMap((part) => (UNSPACED.test(part) ? [...segments(part)] : part));
    for (const word of words) next(word);
    const last = position;
    position = first;
    if (parts.length > 1 && run.length <= MAX_WORD_CHARS) put(parts.join(''));
    for (const [characters] of run.matchAll(SYLLABIC)) {
      for (const pair of pairs(characters)) if (!words.includes(pair)) put(pair);
    }
    position = last;
  }
  return terms;
}

function normalise(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(INVISIBLE, '')
    .replace(OPTIONAL_MARKS, '')
    .replace(SAME_LETTERS, (letter) => SAME[letter] ?? String(letter.charCodeAt(0) & 0xf));
}

function* segments(run: string): Generator<string> {
  for (const { segment, isWordLike } of segmenter.segment(run)) if (isWordLike) yield segment;
}

function* pairs(characters: string): Generator<string> {
  const all = [...characters];
  for (let i = 0; i + 1 < all.length; i += 1) yield `${all[i]}${all[i + 1]}`;
}

const CODES = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * What trigrams are taken of: the word with an ASCII character for each other letter, because PostgreSQL sees only the letters of
 * the database's locale as such. Letters of one alphabet get different characters. Empty for words that stand for nothing like
 * them: short ones, and codes.
 */
export function shapeOf(word: string): string {
  const characters = [...word];
  if (characters.length < 4 || /\d/.test(word)) return '';
  return characters
    .map((character) => (character <= '\x7f' ? character : CODES[(character.codePointAt(0) ?? 0) % CODES.length]))
    .join('');
}

/** A word as tsvector and tsquery take it, whatever it is made of. */
export function lexeme(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Whether `unaccent` might change the word. */
export function mayHaveAccents(word: string): boolean {
  return /[^a-z0-9]/.test(word);
}

/** Most places that PostgreSQL keeps of one word in one text (documentation, "Text Search Type Limitations"). */
const MAX_PLACES = 255;

/**
 * The words of a heading (label C, which counts twice) and then those of the content, each as `plain` has it without accents:
 * as the text form of a tsvector, and each once.
 */
export function tsvectorOf(
  heading: readonly Term[],
  content: readonly Term[],
  plain: ReadonlyMap<string, string>,
): { text: string; words: string[] } {
  const places = new Map<string, string[]>();
  const shift = heading.at(-1)?.position ?? 0;
  const add = (terms: readonly Term[], by: number, label: string) => {
    for (const { word, position } of terms) {
      const written = plain.get(word) ?? word;
      if (written === '') continue;
      const known = places.get(written);
      const place = `${Math.min(position + by, LAST_POSITION)}${label}`;
      if (!known) places.set(written, [place]);
      else if (known.length < MAX_PLACES) known.push(place);
    }
  };
  add(heading, 0, 'C');
  add(content, shift, '');
  const text = [...places].map(([word, at]) => `${lexeme(word)}:${at.join(',')}`).join(' ');
  return { text, words: [...places.keys()] };
}
