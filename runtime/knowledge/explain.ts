import { findMatches } from '../../db/queries/knowledge/knowledgeSearch.ts';
import type { KnowledgeContext } from './passages.ts';
import type { AskedWord } from './plan.ts';
import { type KnowledgeFindings, type KnowledgeHit, type KnowledgeQuery, searchAndTell } from './search.ts';
import { lexeme, STEM } from './terms.ts';

/** A word of the query that a passage has. */
export interface MatchedWord {
  /** As it was asked for, without accents. */
  word: string;
  /** What of it stands in the passage: the word itself, stems (with `~` before them), and words like it. */
  as: string[];
  rarity: number;
}

/** A hit, and the words that it was found by. */
export type ExplainedHit = KnowledgeHit & { matched: MatchedWord[] };

/** What a search found, and why. */
export interface KnowledgeExplanation extends Omit<KnowledgeFindings, 'hits'> {
  /** The words of the query that count, the rarest first. */
  words: AskedWord[];
  hits: ExplainedHit[];
}

/** Searches as `searchKnowledge` does, and says by which words each passage was found. For people: it asks the database once more for each hit. */
export async function explainKnowledge(
  context: KnowledgeContext,
  query: KnowledgeQuery,
): Promise<KnowledgeExplanation> {
  const { hits, words, ...findings } = await searchAndTell(context, query);
  const forms = words.map((one) => ({
    ...one,
    forms: [one.word, ...one.stems.map((stem) => STEM + stem), ...one.others],
  }));
  const explained: ExplainedHit[] = [];
  for (const hit of hits) {
    const asked = forms.flatMap((one) => one.forms).map(lexeme);
    const there = new Set(await findMatches(context.db, context.workspaceId, hit, asked));
    const matched = forms
      .map(({ word, rarity, forms: all }) => ({ word, as: all.filter((form) => there.has(lexeme(form))), rarity }))
      .filter(({ as }) => as.length > 0);
    explained.push({ ...hit, matched });
  }
  return { ...findings, words, hits: explained };
}
