import { cutText, toStorable } from '../../core/text.ts';
import { withoutAccents } from '../../db/queries/knowledge/knowledgePassages.ts';
import {
  type FoundPassage,
  findWords,
  hasPgvector,
  matchPassages,
  nearestPassages,
} from '../../db/queries/knowledge/knowledgeSearch.ts';
import { embeddingModelKey, embedQuery, signsOf } from './embeddings.ts';
import { fuseRanks } from './fusion.ts';
import type { KnowledgeContext } from './passages.ts';
import { planSearch } from './plan.ts';
import { mayHaveAccents, shapeOf, type Term, termsOf } from './terms.ts';

/** What is looked for, and where. */
export interface KnowledgeQuery {
  /** A question or words, in any language. */
  query: string;
  /** The sources to search, such as those linked to an agent. What cannot be searched among them is left out. */
  sourceIds: readonly string[];
  /** Most passages to answer with. */
  limit: number;
}

/** A passage that was found. */
export interface KnowledgeHit extends FoundPassage {
  /** From 0 to 1, higher is better; comparable within one answer only. */
  score: number;
}

/** In UTF-16 units: a query that is longer is a document, and its beginning tells what it is about. */
const MAX_QUERY_CHARS = 4_000;
/** Words of the query that are looked up. */
const MAX_QUERY_WORDS = 64;
/** Passages that each way of searching brings to be fused. */
const MAX_FUSED = 50;
/** Passages that are ranked at most, where the statistics were wrong. */
const MAX_RANKED = 1_500;
/** Numbers that SQL multiplies in one exact comparison: 0.2 µs each. */
const MAX_MULTIPLICATIONS = 150_000;
const [MIN_COMPARED, MAX_COMPARED] = [100, 400];
/** With pgvector a comparison costs little more than reading the vector. */
const MAX_COMPARED_BY_PGVECTOR = 1_000;

/**
 * The passages of the sources that answer a query best, best first: by their words, and by their meaning where a model for embeddings
 * is configured, both ranks fused. Only processed sources of the workspace are searched. When the model for embeddings does not
 * answer, that is logged, and the words decide alone.
 */
export async function searchKnowledge(
  context: KnowledgeContext,
  { query, sourceIds, limit }: KnowledgeQuery,
): Promise<KnowledgeHit[]> {
  const text = toStorable(query, ' ');
  if (limit < 1 || sourceIds.length === 0 || text.trim() === '') return [];
  const byMeaning = context.runtime.models.embeddings !== undefined;
  const wanted = byMeaning ? Math.max(MAX_FUSED, limit) : limit;
  const lists = await Promise.all([
    searchWords(context, cutText(text, MAX_QUERY_CHARS), sourceIds, wanted),
    byMeaning ? searchMeaning(context, text, sourceIds, wanted) : [],
  ]);
  const fused = fuseRanks(
    lists.filter((list) => list.length > 0),
    ({ sourceId, seq }) => `${sourceId}/${seq}`,
  );
  return fused.slice(0, limit);
}

async function searchWords(
  { db, workspaceId }: KnowledgeContext,
  text: string,
  sourceIds: readonly string[],
  limit: number,
): Promise<FoundPassage[]> {
  const asked = await withoutAccentsOf(db, distinct(termsOf(text)).slice(0, MAX_QUERY_WORDS));
  if (asked.length === 0) return [];
  const known = await findWords(
    db,
    asked.map(({ word }) => ({ word, shape: shapeOf(word) })),
    sourceIds,
  );
  const plan = planSearch(known, asked);
  if (!plan) return [];
  const { parts, candidates, wider } = plan;
  const options = { sourceIds, parts, most: MAX_RANKED, limit };
  const matches = await matchPassages(db, workspaceId, { ...options, ...candidates });
  if (wider === undefined || matches.length >= limit) return matches;
  return await matchPassages(db, workspaceId, { ...options, ...wider });
}

/** One more round trip, for queries that may have accents. */
async function withoutAccentsOf(db: KnowledgeContext['db'], terms: Term[]): Promise<Term[]> {
  const unknown = terms.map(({ word }) => word).filter(mayHaveAccents);
  if (unknown.length === 0) return terms;
  const plain = await withoutAccents(db, unknown);
  return distinct(terms.map((term) => ({ ...term, word: plain.get(term.word) ?? term.word }))).filter(
    ({ word }) => word !== '',
  );
}

function distinct(terms: readonly Term[]): Term[] {
  const seen = new Set<string>();
  return terms.filter(({ word }) => !seen.has(word) && seen.add(word));
}

async function searchMeaning(
  { db, workspaceId, runtime: { models }, logger }: KnowledgeContext,
  text: string,
  sourceIds: readonly string[],
  limit: number,
): Promise<FoundPassage[]> {
  if (!models.embeddings) return [];
  let vector: readonly number[];
  try {
    vector = await embedQuery(models, text);
  } catch (error) {
    logger?.warn({ err: error }, 'knowledge is searched by words alone');
    return [];
  }
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

/** How many of the vectors with the nearest signs are compared exactly. */
export function comparedVectors(dimensions: number, pgvector: boolean): number {
  if (pgvector) return MAX_COMPARED_BY_PGVECTOR;
  return Math.min(Math.max(Math.round(MAX_MULTIPLICATIONS / dimensions), MIN_COMPARED), MAX_COMPARED);
}

const pgvectorThere = new WeakMap<object, Promise<boolean>>();

/** Asked once a process, which has one database. */
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
