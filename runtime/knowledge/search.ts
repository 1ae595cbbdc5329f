import { cutText, toStorable } from '../../core/text.ts';
import { databaseFault } from '../../db/errors.ts';
import { withoutAccents } from '../../db/queries/knowledge/knowledgePassages.ts';
import {
  type FoundPassage,
  findWords,
  hasPgvector,
  matchPassages,
  nearestPassages,
  type ScoredPassage,
} from '../../db/queries/knowledge/knowledgeSearch.ts';
import { embeddingModelKey, isEnglishOnly } from './embeddingForms.ts';
import { embedQuery, signsOf } from './embeddings.ts';
import { fuseScores } from './fusion.ts';
import { isForeign } from './languages.ts';
import type { KnowledgeContext } from './passages.ts';
import { type AskedWord, planSearch } from './plan.ts';
import { mayHaveAccents, shapeOf, type Term, termsOf } from './terms.ts';

/** A query, and the sources to search. */
export interface KnowledgeQuery {
  /** A question or words, in any language. */
  query: string;
  /** The sources to search, such as those linked to an agent. Leaves out those that cannot be searched. */
  sourceIds: readonly string[];
  /** Maximum number of passages to return. */
  limit: number;
}

/** Where one of the two searches has a passage: 1 is its best. Its score is comparable within that search and result only. */
export interface KnowledgeRank {
  rank: number;
  score: number;
}

/** A found passage. */
export interface KnowledgeHit extends FoundPassage {
  /** From 0 to 1, higher is better; comparable within one result only. */
  score: number;
  /** Null where the search by words did not find it. */
  byWords: KnowledgeRank | null;
  /** By the cosine of the vectors. Null where the search by meaning did not find it, or there was none. */
  byMeaning: KnowledgeRank | null;
}

/** What a search found. */
export interface KnowledgeFindings {
  /** What was searched for, without the end of a long text. */
  query: string;
  /** Best first. */
  hits: KnowledgeHit[];
  /** Whether a part of the search failed, so that passages that fit may be missing. */
  isIncomplete: boolean;
}

/** In UTF-16 units. Of a longer query only the beginning is used. */
const MAX_QUERY_CHARS = 4_000;
/** Maximum number of words of the query that are looked up. */
const MAX_QUERY_WORDS = 64;
/** Maximum number of passages of each search that are fused. */
const MAX_FUSED = 50;
/** How much each search counts: meaning more than words. With these, both together are at least as good as the better of them (bench `retrieval`). */
const MEANING_COUNTS = 0.55;
/** The same where the model does not know the language: enough to order what has the same words, too little to stand above it. */
const FOREIGN_MEANING_COUNTS = 0.2;
/** Maximum number of ranked passages, for when the statistics are wrong. */
const MAX_RANKED = 1_500;
/** Maximum number of multiplications in one exact comparison in SQL: 0.2 µs each. */
const MAX_MULTIPLICATIONS = 150_000;
const [MIN_COMPARED, MAX_COMPARED] = [100, 400];
/** With pgvector a comparison costs little more than reading the vector. */
const MAX_COMPARED_BY_PGVECTOR = 1_000;

/**
 * Finds the passages of the sources that match a query best, best first. Searches by words, and by meaning where a model for embeddings
 * is configured, and fuses both ranks. Searches only processed sources of the workspace. Each of the two searches stands alone: when one
 * fails, logs that and goes by the other. Throws when the database is out of reach.
 */
export async function searchKnowledge(context: KnowledgeContext, query: KnowledgeQuery): Promise<KnowledgeFindings> {
  const { words: _, ...findings } = await searchAndTell(context, query);
  return findings;
}

/** As `searchKnowledge`, with the words that it went by, the rarest first. */
export async function searchAndTell(
  context: KnowledgeContext,
  { query, sourceIds, limit }: KnowledgeQuery,
): Promise<KnowledgeFindings & { words: AskedWord[] }> {
  const text = toStorable(query, ' ');
  const words = cutText(text, MAX_QUERY_CHARS);
  if (limit < 1 || sourceIds.length === 0 || text.trim() === '')
    return { query: words, hits: [], words: [], isIncomplete: false };
  const byMeaning = context.runtime.models.embeddings !== undefined;
  const wanted = byMeaning ? Math.max(MAX_FUSED, limit) : limit;
  const [foundByWords, foundByMeaning] = await Promise.all([
    byItself(context, 'words', searchWords(context, words, sourceIds, wanted)),
    byMeaning ? byItself(context, 'meaning', searchMeaning(context, text, sourceIds, wanted)) : [],
  ]);
  const [ranksByWords, ranksByMeaning] = [ranksOf(foundByWords?.passages), ranksOf(foundByMeaning)];
  const isStrange = knowsLittle(context, text, foundByWords?.language);
  const fused = fuseFindings(foundByWords?.passages ?? [], foundByMeaning ?? [], keyOf, isStrange);
  const hits = fused.slice(0, limit).map((one) => ({
    ...one,
    byWords: ranksByWords.get(keyOf(one)) ?? null,
    byMeaning: ranksByMeaning.get(keyOf(one)) ?? null,
  }));
  return {
    query: words,
    hits,
    words: foundByWords?.words ?? [],
    isIncomplete: foundByWords === undefined || foundByMeaning === undefined,
  };
}

function knowsLittle({ runtime: { models } }: KnowledgeContext, text: string, searched: string | undefined): boolean {
  return models.embeddings !== undefined && isEnglishOnly(models.embeddings) && isForeign(text, searched);
}

/**
 * One list of what was found by words and by meaning, best first. An empty list is left out. Each list has up to 50 entries, best first.
 * @param isStrange whether the model does not know the language of the question
 */
export function fuseFindings<T extends { score: number }>(
  byWords: readonly T[],
  byMeaning: readonly T[],
  keyOf: (entry: T) => string,
  isStrange = false,
): T[] {
  const meaning = isStrange ? FOREIGN_MEANING_COUNTS : MEANING_COUNTS;
  const lists = [
    { entries: byWords, weight: 1 - meaning, worthless: 'zero' as const },
    { entries: byMeaning, weight: meaning, worthless: 'last' as const },
  ];
  return fuseScores(
    lists.filter(({ entries }) => entries.length > 0),
    keyOf,
  );
}

const keyOf = ({ sourceId, seq }: FoundPassage): string => `${sourceId}/${seq}`;

function ranksOf(list: readonly ScoredPassage[] = []): Map<string, KnowledgeRank> {
  return new Map(list.map((one, index) => [keyOf(one), { rank: index + 1, score: one.score }]));
}

/** Logs why a search failed, and returns nothing then. Rethrows an outage of the database, which the turn cannot survive. */
async function byItself<Found>(
  { logger }: KnowledgeContext,
  what: 'words' | 'meaning',
  search: Promise<Found>,
): Promise<Found | undefined> {
  try {
    return await search;
  } catch (error) {
    // A statement timeout is no outage.
    const isTimeout = (error as { code?: unknown } | null)?.code === '57014';
    if (!isTimeout && databaseFault(error)?.code === 'UNAVAILABLE') throw error;
    logger?.warn({ err: error }, `knowledge could not be searched by ${what}`);
    return undefined;
  }
}

async function searchWords(
  { db, workspaceId }: KnowledgeContext,
  text: string,
  sourceIds: readonly string[],
  limit: number,
): Promise<{ passages: ScoredPassage[]; words: AskedWord[]; language?: string | undefined }> {
  const asked = await withoutAccentsOf(db, distinct(termsOf(text)).slice(0, MAX_QUERY_WORDS));
  if (asked.length === 0) return { passages: [], words: [] };
  const known = await findWords(
    db,
    workspaceId,
    asked.map(({ word, written, stems }) => ({ word, written: stems ? written : '', shape: shapeOf(word) })),
    sourceIds,
  );
  const language = known.find(({ ordinal }) => ordinal === -3)?.word;
  const plan = planSearch(known, asked);
  if (!plan) return { passages: [], words: [] };
  const { parts, averageLength, candidates, wider, words } = plan;
  const options = { sourceIds, parts, averageLength, most: MAX_RANKED, limit };
  const matches = await matchPassages(db, workspaceId, { ...options, ...candidates });
  if (wider === undefined || matches.length >= limit) return { passages: matches, words, language };
  return { passages: await matchPassages(db, workspaceId, { ...options, ...wider }), words, language };
}

/** A word of the query as it is written and without accents. */
type AskedTerm = Term & { written: string };

/** One more round trip, for queries that may have accents. */
async function withoutAccentsOf(db: KnowledgeContext['db'], terms: Term[]): Promise<AskedTerm[]> {
  const unknown = terms.map(({ word }) => word).filter(mayHaveAccents);
  const plain = unknown.length === 0 ? new Map<string, string>() : await withoutAccents(db, unknown);
  return distinct(
    terms.map((term) => ({ ...term, written: term.word, word: plain.get(term.word) ?? term.word })),
  ).filter(({ word }) => word !== '');
}

function distinct<T extends Term>(terms: readonly T[]): T[] {
  const seen = new Set<string>();
  return terms.filter(({ word }) => !seen.has(word) && seen.add(word));
}

async function searchMeaning(
  { db, workspaceId, runtime: { models } }: KnowledgeContext,
  text: string,
  sourceIds: readonly string[],
  limit: number,
): Promise<ScoredPassage[]> {
  if (!models.embeddings) return [];
  const vector = await embedQuery(models, text);
  const pgvector = await pgvectorOf(models, () => hasPgvector(db));
  return await nearestPassages(db, workspaceId, {
    sourceIds,
    model: embeddingModelKey(models.embeddings),
    vector,
    signs: signsOf(vector),
    candidates: Math.max(comparedVectors(vector.length, pgvector), limit),
    limit,
    pgvector,
  });
}

/** Returns how many of the vectors with the nearest signs are compared exactly. */
export function comparedVectors(dimensions: number, pgvector: boolean): number {
  if (pgvector) return MAX_COMPARED_BY_PGVECTOR;
  return Math.min(Math.max(Math.round(MAX_MULTIPLICATIONS / dimensions), MIN_COMPARED), MAX_COMPARED);
}

const pgvectorThere = new WeakMap<object, Promise<boolean>>();

/** Checked once per process, which has one database. */
async function pgvectorOf(process: object, ask: () => Promise<boolean>): Promise<boolean> {
  const known = pgvectorThere.get(process) ?? ask();
  pgvectorThere.set(process, known);
  try {
    return await known;
  } catch (error) {
    pgvectorThere.delete(process);
    throw error;
  }
}
