import { cutText } from '../../core/text.ts';

/** A word as the index has it, and where in the text it stands: the first word is 1. Words cut from one run may share a place. */
export interface Term {
  word: string;
  position: number;
  /** Whether it has a stem. Codes, names such as iPhone and NASA, and words of scripts without spaces have none. */
  stems: boolean;
}

/** PostgreSQL keeps no position beyond this one (documentation, "Text Search Type Limitations"). */
export const LAST_POSITION = 16_383;
/** In UTF-16 units. What is longer is no word that anybody looks for. */
const MAX_WORD_CHARS = 64;

/** Letters and digits, and what joins them to one expression: codes, versions, amounts, addresses, elisions, and Persian's non-joiner. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:['’ʼ\-‐‑_./:@+&,·\u200c][\p{L}\p{M}\p{N}]+)*/gu;
/** Most words: nothing below cuts them or joins them. Latin, Greek and Cyrillic letters are cheaper to tell by their code than by their script. */
const SIMPLE_RUN =
  /^[a-z0-9\u00df-\u00f6\u00f8-\u024f\u0370-\u0373\u0376-\u0377\u037b-\u037d\u03ac-\u03ff\u0400-\u0481\u048a-\u052f]+$/;
const JOINT = /['’ʼ\-‐‑_./:@+&,·\u200c]/u;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Scripts where two characters are already telling, and where one word is cut in several ways, or carries its particles. */
const SYLLABIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]{2,}/gu;
const HAS_SYLLABIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** What is written or left out at will: combining accents, Hebrew points, Arabic vowel signs and stretching. */
const OPTIONAL_MARKS =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g;
const INVISIBLE = /\u00ad|\u200d|\u2060|\ufeff/g;
/** What has a capital after a small letter, or a few capitals and nothing else, is a name. */
const MAY_BE_NAME = /\p{Ll}\p{Lu}|\p{Lu}{2}/u;
const NAME = /^(?:\p{Lu}{2,6}$|.*\p{Ll}\p{Lu})/u;
const LETTERS = /[\p{L}\p{N}]+/gu;
const SMALL_LETTER = /\p{Ll}/u;
/** What is not stemmed, whatever it is in. */
const NO_STEM =
  /[^\p{L}\p{M}]|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Hangul}]/u;
const APOSTROPHE = /['’ʼ]/u;
const DIGIT = /\d/;
/** Articles, prepositions and pronouns that lose their vowel before another one, in French, Italian and Catalan: they belong to no expression and are no words to look for. */
const ELIDED = new Set(
  'l d j m t s n c qu jusqu lorsqu puisqu quoiqu quelqu presqu un all dall dell nell sull coll quest quell sant com dov cos bell nessun tutt anch'.split(
    ' ',
  ),
);
/** What follows an apostrophe or a hyphen and is a word of its own, or an ending. */
const CLITICS = new Set(
  's t d m re ve ll je tu il elle nous vous ils elles ce ci la là le les lui leur moi toi y en me te se lo los las lhe nos vos ne ho hi li то ка нибудь либо'.split(
    ' ',
  ),
);
const ARABIC_ARTICLE = /^ال(?=\p{L}{3})/u;

/** Letters of one sound that people write for each other. The Arabic ones are those of Lucene's ArabicNormalizer. */
const SAME: Readonly<Record<string, string>> = { ς: 'σ', أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ة: 'ه' };
const SAME_LETTERS = /[ςأإآٱىة\u0660-\u0669\u06f0-\u06f9]/g;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * The words of a text in any language, in one form each: NFKC, lower case, without what is optional in writing. Accents on Latin,
 * Greek and Cyrillic letters are left to PostgreSQL's `unaccent`. Scripts without spaces are cut by ICU's dictionaries; Chinese,
 * Japanese and Korean give pairs of characters as well, because one word may be cut in two ways. An expression such as A-1234
 * gives its parts and the whole without its joints, so that it is found in whichever way it is written. Elided articles are left out, and words that an
 * apostrophe or a hyphen joins to a pronoun are not taken for one expression.
 */
export function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  const names = namesIn(text);
  let position = 0;
  const put = (word: string, stems: boolean) => {
    terms.push({ word: cutText(word, MAX_WORD_CHARS), position: Math.min(position, LAST_POSITION), stems });
  };
  const next = (word: string) => {
    position += 1;
    put(word, !names.has(word) && !NO_STEM.test(word));
    if (ARABIC_ARTICLE.test(word)) put(word.replace(ARABIC_ARTICLE, ''), false);
  };
  for (const [run] of normalise(text).matchAll(RUN)) {
    if (SIMPLE_RUN.test(run)) {
      position += 1;
      put(run, !names.has(run) && !DIGIT.test(run));
      continue;
    }
    const first = position + 1;
    const parts = run.split(JOINT);
    const words = withoutArticles(run, parts).flatMap((part) => (UNSPACED.test(part) ? [...segments(part)] : part));
    for (const word of words) next(word);
    const last = position;
    position = first;
    if (parts.length > 1 && run.length <= MAX_WORD_CHARS && isExpression(parts, run)) put(parts.join(''), false);
    let known: ReadonlySet<string> | undefined;
    for (const [characters] of run.matchAll(SYLLABIC)) {
      known ??= new Set(words);
      for (const pair of pairs(characters)) if (!known.has(pair)) put(pair, false);
    }
    position = last;
  }
  return terms;
}

/** Names in lower case. A text without small letters tells nothing. */
function namesIn(text: string): ReadonlySet<string> {
  if (!MAY_BE_NAME.test(text) || !SMALL_LETTER.test(text)) return NO_NAMES;
  const names = new Set<string>();
  for (const [word] of text.matchAll(LETTERS)) {
    if (word.length <= MAX_WORD_CHARS && NAME.test(word)) names.add(word.toLowerCase());
  }
  return names;
}

const NO_NAMES: ReadonlySet<string> = new Set();

function withoutArticles(run: string, parts: readonly string[]): readonly string[] {
  const [first = '', ...others] = parts;
  return others.length > 0 && ELIDED.has(first) && APOSTROPHE.test(run.charAt(first.length)) ? others : parts;
}

/** Whether the parts together are one code, name or compound that people also write in one. */
function isExpression(parts: readonly string[], run: string): boolean {
  if (DIGIT.test(run)) return true;
  if (APOSTROPHE.test(run) && ELIDED.has(parts[0] ?? '')) return false;
  // French has "peut-on", English "add-on".
  return !parts.some((part, at) => at > 0 && (CLITICS.has(part) || (part === 'on' && parts[at - 1]?.endsWith('t'))));
}

const UNSPACED_RUN = new RegExp(`${UNSPACED.source}{2,}`, 'gu');

/** Whether a good part of the text is in a script that writes no spaces between words. */
export function isUnspaced(text: string): boolean {
  let letters = 0;
  for (const [run] of text.matchAll(UNSPACED_RUN)) letters += run.length;
  return letters > text.length / 5;
}

/** Whether a word is in a script of which `termsOf` also gives pairs of characters, or is such a pair. */
export function isCutInPairs(word: string): boolean {
  return HAS_SYLLABIC.test(word);
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

/** What stands between the headings of a path, as `split.ts` writes it. */
const BETWEEN_HEADINGS = ' > ';
/** What stems begin with in a tsvector, so that they are not taken for words. */
export const STEM = '~';

/** The words of the headings above a passage. */
export interface HeadingTerms {
  /** Of the whole path, the outermost heading first. */
  terms: readonly Term[];
  /** From this position on they are those of the innermost heading. */
  innermost: number;
}

/** The words of a path of headings such as `Part > Chapter > Section`. */
export function headingTermsOf(path: string): HeadingTerms {
  const end = path.lastIndexOf(BETWEEN_HEADINGS);
  const outer = end < 0 ? [] : termsOf(path.slice(0, end));
  const shift = outer.at(-1)?.position ?? 0;
  const inner = termsOf(end < 0 ? path : path.slice(end + BETWEEN_HEADINGS.length));
  return {
    terms: [...outer, ...inner.map((term) => ({ ...term, position: term.position + shift }))],
    innermost: shift + 1,
  };
}
