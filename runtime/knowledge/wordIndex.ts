import { setImmediate as yieldToEvents } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { toStorable } from '../../core/text.ts';
import { findStems, type SourceIndex } from '../../db/queries/knowledge/knowledgeIndex.ts';
import { type PassageRow, withoutAccents } from '../../db/queries/knowledge/knowledgePassages.ts';
import type { DB } from '../../generated/db.ts';
import { languageOfWords, languagesOf, wordsOf } from './languages.ts';
import type { Passage } from './passages.ts';
import { type ReadPassage, SourceWords } from './sourceWords.ts';
import { headingTermsOf, isUnspaced, termsOf } from './terms.ts';
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
  read: ReadPassage;
}

/**
 * Splits passages into words, and finds the stems of these in the language of each passage. PostgreSQL does the stemming; what is done here gives the event loop
 * a turn every few passages.
 */
export async function indexPassages(db: Kysely<DB>, passages: readonly Passage[]): Promise<IndexedPassages> {
  const rows: PassageRow[] = [];
  const words = new SourceWords();
  const lookup = {
    plain: (asked: readonly string[]) => withoutAccents(db, asked),
    stems: (language: string, asked: readonly string[]) => findStems(db, language, asked),
  };
  const languages = languagesOf(passages.map(({ content }) => content));
  const headings = headingsOf(passages);
  let sum = 0;
  for (let start = 0; start < passages.length; start += PASSAGES_AT_ONCE) {
    const cut: CutPassage[] = [];
    for (const [place, passage] of passages.slice(start, start + PASSAGES_AT_ONCE).entries()) {
      if (place % CUT_AT_ONCE === 0) await yieldToEvents();
      cut.push(cutPassage(words, passage, languages, headings));
    }
    await words.learn(lookup);
    for (const [place, { row, read }] of cut.entries()) {
      if (place % CUT_AT_ONCE === 0) await yieldToEvents();
      const { text, length } = words.write(read);
      sum += length;
      rows.push({ ...row, words: text, length, stemmed: read.language !== undefined });
    }
  }
  const least = passages.length >= MANY_PASSAGES ? 2 : 1;
  return {
    rows,
    counts: words.wordCounts(),
    source: { languages, passages: passages.length, words: sum, counts: words.commonCounts(least) },
  };
}

function cutPassage(
  words: SourceWords,
  passage: Passage,
  languages: readonly string[],
  headings: ReadonlySet<string>,
): CutPassage {
  const [heading, content] = [passage.heading && toStorable(passage.heading), toStorable(passage.content)];
  const [main] = languages;
  const language = languageOfWords(wordsOf(content), languages) ?? (isUnspaced(content) ? undefined : main);
  return {
    row: { seq: passage.seq, heading, page: passage.page, content, worth: worthOf(content, headings) },
    read: words.read(headingTermsOf(heading ?? ''), termsOf(content), language),
  };
}
