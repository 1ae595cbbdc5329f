import { type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { DB, KnowledgeEmbeddings } from '../../../generated/db.ts';
import type { PassageRow } from './knowledgePassages.ts';

/** Which model the vectors of a source are from, and how far they are. */
export type EmbeddingsRow = Selectable<KnowledgeEmbeddings>;

/** What was said of the vectors of a source; locked until the transaction ends. */
export function lockEmbeddings(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
): Promise<EmbeddingsRow | undefined> {
  return trx
    .selectFrom('knowledge_embeddings')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .forUpdate()
    .executeTakeFirst();
}

/** Says that vectors of a model are to come; the source has none. */
export function insertEmbeddings(
  trx: Transaction<DB>,
  workspaceId: string,
  sourceId: string,
  model: string,
): Promise<EmbeddingsRow> {
  return trx
    .insertInto('knowledge_embeddings')
    .values({ workspace_id: workspaceId, source_id: sourceId, model })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Changes what is said of the vectors of a source, if they are of this model. */
export async function updateEmbeddings(
  db: Kysely<DB>,
  { workspaceId, sourceId, model }: { workspaceId: string; sourceId: string; model: string },
  change: Updateable<KnowledgeEmbeddings>,
): Promise<void> {
  await db
    .updateTable('knowledge_embeddings')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .where('model', '=', model)
    .execute();
}

/** The passages of a source after a place, in their order. */
export function listPassagesAfter(
  db: Kysely<DB>,
  workspaceId: string,
  sourceId: string,
  seq: number,
  limit: number,
): Promise<Pick<PassageRow, 'seq' | 'heading' | 'content'>[]> {
  return db
    .selectFrom('knowledge_passages')
    .select(['seq', 'heading', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('source_id', '=', sourceId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** How far the vectors of a source are. */
export interface EmbeddingProgress {
  sourceId: string;
  passages: number;
  /** As stored; null: no run has begun. */
  model: string | null;
  vectors: number;
  refused: number;
  completedAt: Date | null;
  failedAt: Date | null;
  failure: string | null;
}

/** The passages and vectors of sources. */
export async function selectEmbeddingProgress(
  db: Kysely<DB>,
  workspaceId: string,
  sourceIds: readonly string[],
): Promise<EmbeddingProgress[]> {
  const { rows } = await sql<EmbeddingProgress>`
    select s.id as "sourceId",
      (select count(*)::int from knowledge_passages p where p.workspace_id = ${workspaceId} and p.source_id = s.id) as passages,
      e.model,
      (select count(*)::int from knowledge_vectors v where v.workspace_id = ${workspaceId} and v.source_id = s.id) as vectors,
      coalesce(e.refused, 0) as refused, e.completed_at as "completedAt", e.failed_at as "failedAt", e.failure
    from knowledge_sources s
    left join knowledge_embeddings e on e.workspace_id = ${workspaceId} and e.source_id = s.id
    where s.workspace_id = ${workspaceId} and s.id = any (${sourceIds}::uuid[])`.execute(db);
  return rows;
}
