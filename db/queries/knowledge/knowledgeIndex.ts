import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** What the ranking needs to know of a source. */
export interface SourceIndex {
  /** Names of PostgreSQL's Snowball dictionaries without `_stem`, the most common first. */
  languages: readonly string[];
  passages: number;
  /** Sum of the lengths of its passages. */
  words: number;
  /** In how many passages a word or stem stands. */
  counts: ReadonlyMap<string, number>;
}

/** The stem of each word of a language, without accents. Stop words have none, nor has any word where the server has no stemmer for the language. */
export async function findStems(
  db: Kysely<DB>,
  language: string,
  words: readonly string[],
): Promise<Map<string, string>> {
  if (words.length === 0) return new Map();
  const { rows } = await sql<{ word: string; stem: string }>`
    select w.word, unaccent((ts_lexize(d.oid::regdictionary, w.word))[1]) as stem
    from pg_ts_dict d cross join unnest(${words}::text[]) w (word)
    where d.dictname = ${language}::text || '_stem' and d.dictnamespace = 'pg_catalog'::regnamespace`.execute(db);
  return new Map(rows.filter(({ stem }) => stem !== null && stem !== '').map(({ word, stem }) => [word, stem]));
}

/** Replaces what the ranking knows of a source. */
export async function replaceSourceIndex(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
  { languages, passages, words, counts }: SourceIndex,
): Promise<void> {
  await trx
    .deleteFrom('knowledge_indexes')
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .execute();
  if (passages === 0) return;
  await trx
    .insertInto('knowledge_indexes')
    .values({ workspace_id: workspaceId, source_id: sourceId, languages: [...languages], passages, words })
    .execute();
  const sorted = [...counts.keys()].sort();
  await sql`
    insert into knowledge_source_words (workspace_id, source_id, word, passages)
    select ${workspaceId}, ${sourceId}, w.word, w.passages
    from unnest(${sorted}::text[], ${sorted.map((word) => counts.get(word) ?? 0)}::int[]) w (word, passages)`.execute(
    trx,
  );
}

/** Writes the words of stored passages anew. */
export async function updatePassageWords(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
  passages: readonly { seq: number; words: string; length: number; stemmed: boolean; worth: number }[],
): Promise<void> {
  await sql`
    update knowledge_passages p
    set words = n.words::tsvector, length = n.length, stemmed = n.stemmed, worth = n.worth
    from unnest(${passages.map(({ seq }) => seq)}::int[], ${passages.map(({ words }) => words)}::text[],
      ${passages.map(({ length }) => length)}::int[], ${passages.map(({ stemmed }) => stemmed)}::boolean[],
      ${passages.map(({ worth }) => worth)}::real[]) n (seq, words, length, stemmed, worth)
    where p.workspace_id = ${workspaceId} and p.source_id = ${sourceId} and p.seq = n.seq`.execute(trx);
}

/** In how many stored passages of a source each word stands, stems left out; the empty word counts all. */
export async function countStoredWords(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ word: string; passages: number }>`
    select word, count(*)::int as passages
    from knowledge_passages p cross join unnest(tsvector_to_array(p.words) || array['']) word
    where p.workspace_id = ${workspaceId} and p.source_id = ${sourceId} and word not like '~%' group by word`.execute(
    trx,
  );
  return new Map(rows.map(({ word, passages }) => [word, passages]));
}

/**
 * Sources of all workspaces that have passages from before stems, at most `limit` of them: of each workspace one, then of each the next. For the system handle.
 */
export async function findSourcesToIndex(
  system: Kysely<DB>,
  limit: number,
): Promise<{ workspaceId: string; sourceId: string }[]> {
  const { rows } = await sql<{ workspaceId: string; sourceId: string }>`
    select s.workspace_id as "workspaceId", s.id as "sourceId"
    from (select distinct workspace_id, source_id from knowledge_passages where length is null) p
    join knowledge_sources s on s.workspace_id = p.workspace_id and s.id = p.source_id
    where s.processing_status = 'COMPLETED' and s.deleted_at is null
    order by row_number() over (partition by s.workspace_id order by s.created_at, s.id), s.created_at, s.id
    limit ${limit}`.execute(system);
  return rows;
}
