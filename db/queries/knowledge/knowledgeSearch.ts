import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { realArray } from './knowledgePassages.ts';

/** Where a passage is, and what it says. */
export interface FoundPassage {
  sourceId: string;
  sourceName: string;
  seq: number;
  heading: string | null;
  page: number | null;
  content: string;
}

/** A passage that a search found, and how well it fits: higher is better, comparable within that search only. */
export interface ScoredPassage extends FoundPassage {
  score: number;
}

/** A word of a query and what the index knows of it: see `knowledge_terms` in the migration. Of ordinal -3, the word is the language of most searched passages. */
export interface FoundWord {
  ordinal: number;
  word: string;
  /** In how many passages of the workspace it stands. */
  passages: number;
  /** In how many passages of the searched sources that have stems. */
  found: number;
  likeness: number;
}

/**
 * The words of a query with their stems and those like them, as the passages have them.
 * @param words each without accents, as it is written (empty for those that are not stemmed), and its shape
 */
export async function findWords(
  db: Kysely<DB>,
  workspaceId: string,
  words: readonly { word: string; written: string; shape: string }[],
  sourceIds: readonly string[],
): Promise<FoundWord[]> {
  const { rows } = await sql<FoundWord>`
    select ordinal, word, passages, found, likeness from knowledge_terms(${words.map(({ word }) => word)}::text[],
      ${words.map(({ written }) => written)}::text[], ${words.map(({ shape }) => shape)}::text[], ${sourceIds}::uuid[])
    union all
    (select -3, i.languages[1], sum(i.passages)::int, 0, 1::real from knowledge_indexes i
     where i.workspace_id = ${workspaceId} and i.source_id = any (${sourceIds}::uuid[]) and cardinality(i.languages) > 0 group by 2 order by 3 desc, 2 limit 1)`.execute(
    db,
  );
  return rows;
}

const found = sql`s.id as "sourceId", s.name as "sourceName", p.seq, p.heading, p.page, p.content`;

/** Those of the sources that can be searched. */
function searchable(workspaceId: string, sourceIds: readonly string[]) {
  return sql`
    searchable as (
      select id, name from knowledge_sources
      where workspace_id = ${workspaceId} and id = any (${sourceIds}::uuid[])
        and processing_status = 'COMPLETED' and deleted_at is null
    )`;
}

/** What is matched, and how: see `knowledge_ranking` in the migration. */
export interface MatchOptions {
  sourceIds: readonly string[];
  /** Which passages are ranked; null: any. */
  query: string | null;
  /** Whether the inverted index finds them. */
  inverted: boolean;
  parts: readonly { query: string; weight: number; plainWeight: number; graded: boolean }[];
  /** The average length of the searched passages, in words. */
  averageLength: number;
  /** Most passages that are ranked. */
  most: number;
  limit: number;
}

/** The passages that match best by their words, best first, of those sources that can be searched. */
export async function matchPassages(
  db: Kysely<DB>,
  workspaceId: string,
  { sourceIds, query, inverted, parts, averageLength, most, limit }: MatchOptions,
): Promise<ScoredPassage[]> {
  const { rows } = await sql<ScoredPassage>`
    with ${searchable(workspaceId, sourceIds)}
    select ${found}, m.score
    from knowledge_ranking(array(select id from searchable), ${query}::tsquery, ${inverted},
      ${parts.map(({ query }) => query)}::text[], ${parts.map(({ weight }) => weight)}::real[],
      ${parts.map(({ plainWeight }) => plainWeight)}::real[], ${parts.map(({ graded }) => graded)}::boolean[],
      ${averageLength}, ${most}, ${limit}) m
    join searchable s on s.id = m.source_id
    join knowledge_passages p on p.workspace_id = ${workspaceId} and p.source_id = m.source_id and p.seq = m.seq
    order by m.score desc, m.source_id, m.seq`.execute(db);
  return rows;
}

/** Which of the words or stems stand in a passage, as tsquery takes them. */
export async function findMatches(
  db: Kysely<DB>,
  workspaceId: string,
  { sourceId, seq }: { sourceId: string; seq: number },
  queries: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ query: string }>`
    select q.query from knowledge_passages p cross join unnest(${queries}::text[]) with ordinality q (query, place)
    where p.workspace_id = ${workspaceId} and p.source_id = ${sourceId} and p.seq = ${seq} and p.words @@ q.query::tsquery
    order by q.place`.execute(db);
  return rows.map(({ query }) => query);
}

/** What is near, and to what. */
export interface NearOptions {
  sourceIds: readonly string[];
  model: string;
  vector: readonly number[];
  signs: string;
  /** How many of the passages with the nearest signs are compared exactly. */
  candidates: number;
  limit: number;
  /** Whether the server has the extension `vector`. */
  pgvector: boolean;
}

/**
 * The passages nearest to a vector by cosine, nearest first, of those sources that can be searched and whose vectors are from
 * the same model; the cosine is their score. Of more passages than `candidates` those are compared whose signs differ least.
 */
export async function nearestPassages(
  db: Kysely<DB>,
  workspaceId: string,
  { sourceIds, model, vector, signs, candidates, limit, pgvector }: NearOptions,
): Promise<ScoredPassage[]> {
  const asked = realArray(vector);
  const nearness = pgvector
    ? sql`-(n.vector::vector <=> ${asked}::real[]::vector)`
    : // As float8: the product of two small reals underflows, which PostgreSQL reports as an error.
      sql`(select sum(u.a::float8 * u.b::float8) from unnest(n.vector, ${asked}::real[]) u (a, b))`;
  const { rows } = await sql<ScoredPassage>`
    with ${searchable(workspaceId, sourceIds)}, near as materialized (
      select v.source_id, v.seq, v.vector
      from knowledge_vectors v
      where v.workspace_id = ${workspaceId} and v.source_id = any (array(
        select e.source_id from knowledge_embeddings e join searchable on searchable.id = e.source_id
        where e.workspace_id = ${workspaceId} and e.model = ${model} and e.dimensions = ${vector.length}))
      order by bit_count(v.signs # ${signs}::varbit), v.source_id, v.seq
      limit ${candidates}
    ), ranked as materialized (
      select n.source_id, n.seq, ${nearness} as nearness from near n order by nearness desc, n.source_id, n.seq limit ${limit}
    )
    select ${found}, r.nearness as score
    from ranked r
    join searchable s on s.id = r.source_id
    join knowledge_passages p on p.workspace_id = ${workspaceId} and p.source_id = r.source_id and p.seq = r.seq
    order by r.nearness desc, r.source_id, r.seq`.execute(db);
  return rows;
}

/** Whether the server has the extension `vector` (pgvector) in this database. */
export async function hasPgvector(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`select to_regtype('vector') is not null as there`.execute(db);
  return rows[0]?.there ?? false;
}
