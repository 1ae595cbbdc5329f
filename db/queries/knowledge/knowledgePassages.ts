import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** A passage with the words it is found by. */
export interface PassageRow {
  seq: number;
  heading: string | null;
  page: number | null;
  content: string;
  /** The text form of its tsvector. */
  words: string;
  /** Number of its words. */
  length: number;
  /** Whether `words` has stems. */
  stemmed: boolean;
  /** What its score is multiplied by, at most 1. */
  worth: number;
}

/** The words as `unaccent` has them; words that it leaves alone are missing. */
export async function withoutAccents(db: Kysely<DB>, words: readonly string[]): Promise<Map<string, string>> {
  if (words.length === 0) return new Map();
  const { rows } = await sql<{ word: string; plain: string }>`
    select word, plain from (select word, unaccent(word) as plain from unnest(${words}::text[]) word) w
    where plain <> word`.execute(db);
  return new Map(rows.map(({ word, plain }) => [word, plain]));
}

/**
 * Locks a source until the transaction ends, so that replacements of its passages take turns. Returns whether it exists:
 * a deleted one counts when `evenDeleted`.
 */
export async function lockSource(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
  evenDeleted: boolean,
): Promise<boolean> {
  const row = await trx
    .selectFrom('knowledge_sources')
    .select('deleted_at')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', sourceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined && (evenDeleted || row.deleted_at === null);
}

/** The passages of a source as they were extracted, in their order. */
export function selectPassages(
  db: Kysely<DB>,
  workspaceId: string,
  sourceId: string,
): Promise<Pick<PassageRow, 'seq' | 'heading' | 'page' | 'content'>[]> {
  return db
    .selectFrom('knowledge_passages')
    .select(['seq', 'heading', 'page', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .orderBy('seq')
    .execute();
}

/**
 * Processed sources of all workspaces that have passages and not all vectors of the model, at most `limit` of them: of each
 * workspace the oldest, then of each the next. For the system handle.
 */
export async function findSourcesWithoutVectors(
  system: Kysely<DB>,
  model: string,
  limit: number,
): Promise<{ workspaceId: string; sourceId: string }[]> {
  return await system
    .selectFrom('knowledge_sources as s')
    .select(['s.workspace_id as workspaceId', 's.id as sourceId'])
    .where('s.processing_status', '=', 'COMPLETED')
    .where('s.deleted_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('knowledge_passages as p')
          .select('p.seq')
          .whereRef('p.workspace_id', '=', 's.workspace_id')
          .whereRef('p.source_id', '=', 's.id'),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('knowledge_embeddings as e')
            .select('e.model')
            .whereRef('e.workspace_id', '=', 's.workspace_id')
            .whereRef('e.source_id', '=', 's.id')
            .where('e.model', '=', model)
            .where('e.completed_at', 'is not', null),
        ),
      ),
    )
    .orderBy(sql`row_number() over (partition by s.workspace_id order by s.created_at, s.id)`)
    .orderBy('s.created_at')
    .orderBy('s.id')
    .limit(limit)
    .execute();
}

/** Removes the vectors of a source. */
export async function removeEmbeddings(trx: Transaction<DB>, workspaceId: string, sourceId: string): Promise<void> {
  await trx
    .deleteFrom('knowledge_embeddings')
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .execute();
}

/** Removes the passages and vectors of a source. Returns how many passages had each word; the empty word counts all. */
export async function removePassages(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
): Promise<Map<string, number>> {
  await removeEmbeddings(trx, workspaceId, sourceId);
  const { rows } = await sql<{ word: string; passages: number }>`
    with gone as (
      delete from knowledge_passages where workspace_id = ${workspaceId} and source_id = ${sourceId} returning words
    )
    select word, count(*)::int as passages from gone cross join unnest(tsvector_to_array(words) || array['']) word where word not like '~%' group by word`.execute(
    trx,
  );
  return new Map(rows.map(({ word, passages }) => [word, passages]));
}

/** Stores passages of a source. */
export async function insertPassages(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
  passages: readonly PassageRow[],
): Promise<void> {
  await sql`
    insert into knowledge_passages (workspace_id, source_id, seq, heading, page, content, words, length, stemmed, worth)
    select ${workspaceId}, ${sourceId}, p.seq, p.heading, p.page, p.content, p.words::tsvector, p.length, p.stemmed, p.worth
    from unnest(${passages.map(({ seq }) => seq)}::int[], ${passages.map(({ heading }) => heading)}::text[],
      ${passages.map(({ page }) => page)}::int[], ${passages.map(({ content }) => content)}::text[],
      ${passages.map(({ words }) => words)}::text[], ${passages.map(({ length }) => length)}::int[],
      ${passages.map(({ stemmed }) => stemmed)}::boolean[], ${passages.map(({ worth }) => worth)}::real[])
      p (seq, heading, page, content, words, length, stemmed, worth)`.execute(trx);
}

/** Enters the words of stored passages into the index, where they wait for each other: after the last write of passages in a transaction. */
export async function flushPassages(trx: Transaction<DB>): Promise<void> {
  await sql`select flush_knowledge_passages()`.execute(trx);
}

/**
 * Adds to the counts of words in the workspace; words that no passage has any more are forgotten.
 * @param shapeOf returns the text whose trigrams are those of a word
 */
export async function countWords(
  trx: Transaction<DB>,
  workspaceId: string,
  changes: ReadonlyMap<string, number>,
  shapeOf: (word: string) => string,
): Promise<void> {
  // In one order for all, so that transactions wait for each other and never in a circle. The empty word comes first.
  const words = [...changes.keys()].filter((word) => changes.get(word) !== 0).sort();
  if (words.length === 0) return;
  const by = words.map((word) => changes.get(word) ?? 0);
  await sql`
    insert into knowledge_words as k (workspace_id, word, shape, passages)
    select ${workspaceId}, w.word, w.shape, w.change
    from unnest(${words}::text[], ${words.map(shapeOf)}::text[], ${by}::int[]) with ordinality w (word, shape, change, place)
    order by w.place
    on conflict (workspace_id, word) do update set passages = k.passages + excluded.passages`.execute(trx);
  const fewer = words.filter((_, index) => (by[index] ?? 0) < 0);
  if (fewer.length === 0) return;
  await sql`
    delete from knowledge_words
    where workspace_id = ${workspaceId} and word = any (${fewer}::text[]) and passages <= 0`.execute(trx);
}

/** Stores vectors of a source's passages, in place of those that they have. */
export async function insertVectors(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
  rows: readonly { seq: number; signs: string; vector: readonly number[] }[],
): Promise<void> {
  await sql`
    insert into knowledge_vectors (workspace_id, source_id, seq, signs, vector)
    select ${workspaceId}, ${sourceId}, v.seq, v.signs::varbit, v.vector::real[]
    from unnest(${rows.map(({ seq }) => seq)}::int[], ${rows.map(({ signs }) => signs)}::text[],
      ${rows.map(({ vector }) => realArray(vector))}::text[]) v (seq, signs, vector)
    on conflict (workspace_id, source_id, seq) do update set signs = excluded.signs, vector = excluded.vector`.execute(
    trx,
  );
}

/** A vector as PostgreSQL reads it. A real has no more than 9 digits that count; all that a double has would double the statement. */
export function realArray(vector: readonly number[]): string {
  return `{${vector.map((value) => value.toPrecision(9)).join(',')}}`;
}
