import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { indexOf, rankByOkapi } from './okapi.ts';

/** PostgreSQL's Snowball dictionaries; those of the bench keep stop words, as plain BM25 does. */
export const DICTIONARIES: Readonly<Record<string, string>> = {
  en: 'english',
  de: 'german',
  fr: 'french',
  it: 'italian',
};

/** A plain BM25 over texts, with the stems of the language: for each question, the positions of the texts that fit, best first. */
export async function rankByStems(
  system: Kysely<DB>,
  language: string,
  texts: readonly string[],
  questions: readonly string[],
): Promise<number[][]> {
  const [words, asked] = [texts.map(plainWords), questions.map(plainWords)];
  const stems = await stemsOf(system, language, new Set([...words, ...asked].flat()));
  const stemmed = (list: readonly string[]) => list.map((word) => stems.get(word) ?? word);
  const index = indexOf(words.map(stemmed));
  return asked.map((question) => rankByOkapi(index, stemmed(question)));
}

/** Letters and digits; pairs of characters where no spaces are written. */
function plainWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).flatMap((word) => {
    if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word) || word.length < 2) return word;
    return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
  });
}

async function stemsOf(system: Kysely<DB>, language: string, words: ReadonlySet<string>): Promise<Map<string, string>> {
  const dictionary = DICTIONARIES[language];
  if (dictionary === undefined) return new Map();
  return await system.transaction().execute(async (trx) => {
    const { rows } = await sql<{ word: string; stem: string | null }>`
      select word, coalesce((ts_lexize(${`${dictionary}_stem`}::regdictionary, word))[1], word) as stem from unnest(${[...words]}::text[]) word`.execute(
      trx,
    );
    return new Map(rows.map(({ word, stem }) => [word, stem ?? word]));
  });
}
