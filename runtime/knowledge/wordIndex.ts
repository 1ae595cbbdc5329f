import { setImmediate as yieldToEvents } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { toStorable } from '../../core/text.ts';
import { findStems, type SourceIndex } from '../../db/queries/knowledge/knowledgeIndex.ts';
import { type PassageRow, withoutAccents } from '../../db/queries/knowledge/knowledgePassages.ts';
import type { DB } from '../../generated/db.ts';
import { languageOfWords, languagesOf, wordsOf } from './languages.ts';
import type { Passage } from './passages.ts';
import {
  type HeadingTerms,
  headingTermsOf,
  isUnspaced,
  mayHaveAccents,
  type Term,
  termsOf,
  tsvectorOf,
} from './terms.ts';
import { headingsOf, worthOf } from './worth.ts';

/** A source as the index has it. */
export interface IndexedPassages {
  rows: PassageRow[];
  /** In how many passages each word stands, stems left out. The empty word counts all passages. */
  counts: Map<string, number>;
  source: SourceIndex;
}

/** Passages whose words are looked up in one statement. */
const PASSAGES_AT_ONCE = 500;
/** Passages that are split into words before the event loop gets a turn: some milliseconds. */
const CUT_AT_ONCE = 25;
/** From so many passages on, it is not kept which words stand in one of them only: they are equally rare. */
const MANY_PASSAGES = 50;

interface CutPassage {
  row: Omit<PassageRow, 'words' | 'length' | 'stemmed'>;
  heading: HeadingTerms;
  content: Term[];
  language: string | undefined;
}

/**
 * Splits passages into words, and finds the stems of these in the language of each passage. PostgreSQL does the stemming; what is done here gives the event loop
 * a turn every few passages.
 */
export async function indexPassages(db: Kysely<DB>, passages: readonly Passage[]): Promise<IndexedPassages> {
  const rows: PassageRow[] = [];
  const counts = new Map<string, number>();
  const stemCounts = new Map<string, number>();
  const forms = new WordForms(db);
  const languages = languagesOf(passages.map(({ content }) => content));
  const headings = headingsOf(passages);
  let length = 0;
  for (let start = 0; start < passages.length; start += PASSAGES_AT_ONCE) {
    const cut: CutPassage[] = [];
    for (const [place, passage] of passages.slice(start, start + PASSAGES_AT_ONCE).entries()) {
      if (place % CUT_AT_ONCE === 0) await yieldToEvents();
      cut.push(cutPassage(passage, languages, headings));
    }
    await forms.learn(cut);
    for (const [place, { row, heading, content, language }] of cut.entries()) {
      if (place % CUT_AT_ONCE === 0) await yieldToEvents();
      const stems = language === undefined ? undefined : forms.stems(language);
      const found = tsvectorOf(heading, content, forms.plain, stems && ((word) => stems.get(word)));
      for (const word of ['', ...found.words]) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const stem of found.stems) stemCounts.set(stem, (stemCounts.get(stem) ?? 0) + 1);
      length += found.length;
      rows.push({ ...row, words: found.text, length: found.length, stemmed: stems !== undefined });
    }
  }
  const least = passages.length >= MANY_PASSAGES ? 2 : 1;
  const kept = [...counts, ...stemCounts].filter(([word, count]) => word !== '' && count >= least);
  return {
    rows,
    counts,
    source: { languages, passages: passages.length, words: length, counts: new Map(kept) },
  };
}

function cutPassage(passage: Passage, languages: readonly string[], headings: ReadonlySet<string>): CutPassage {
  const [heading, content] = [passage.heading && toStorable(passage.heading), toStorable(passage.content)];
  const [main] = languages;
  return {
    row: { seq: passage.seq, heading, page: passage.page, content, worth: worthOf(content, headings) },
    heading: headingTermsOf(heading ?? ''),
    content: termsOf(content),
    language: languageOfWords(wordsOf(content), languages) ?? (isUnspaced(content) ? undefined : main),
  };
}

/** The forms of words that were asked for in one source. */
class WordForms {
  readonly #db: Kysely<DB>;
  /** Words without accents. */
  readonly plain = new Map<string, string>();
  readonly #stems = new Map<string, Map<string, string>>();
  readonly #asked = new Map<string, Set<string>>();

  constructor(db: Kysely<DB>) {
    this.#db = db;
  }

  stems(language: string): ReadonlyMap<string, string> {
    return this.#stems.get(language) ?? new Map();
  }

  async learn(passages: readonly CutPassage[]): Promise<void> {
    const accented = new Set<string>();
    const unstemmed = new Map<string, Set<string>>();
    for (const { heading, content, language } of passages) {
      for (const terms of [heading.terms, content]) {
        for (const { word, stems } of terms) {
          if (mayHaveAccents(word) && !this.plain.has(word)) accented.add(word);
          if (!stems || language === undefined || this.#askedFor(language).has(word)) continue;
          this.#askedFor(language).add(word);
          unstemmed.set(language, (unstemmed.get(language) ?? new Set()).add(word));
        }
      }
    }
    for (const word of accented) this.plain.set(word, word);
    for (const [word, without] of await withoutAccents(this.#db, [...accented])) this.plain.set(word, without);
    for (const [language, words] of unstemmed) {
      const known = this.#stems.get(language) ?? new Map<string, string>();
      for (const [word, stem] of await findStems(this.#db, language, [...words])) known.set(word, stem);
      this.#stems.set(language, known);
    }
  }

  #askedFor(language: string): Set<string> {
    const asked = this.#asked.get(language) ?? new Set();
    this.#asked.set(language, asked);
    return asked;
  }
}
