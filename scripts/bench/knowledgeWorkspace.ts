import type { Kysely } from 'kysely';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { insertWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import type { DB } from '../../generated/db.ts';
import { type KnowledgeContext, type Passage, replacePassages } from '../../runtime/knowledge/passages.ts';
import type { World } from './world.ts';

/** Makes a workspace without a model for embeddings, and hands its context to `work`, with the connection that sees all workspaces. */
export async function inKnowledgeWorkspace<Result>(
  { databaseUrl }: Pick<World, 'databaseUrl'>,
  name: string,
  work: (context: KnowledgeContext, system: Kysely<DB>) => Promise<Result>,
): Promise<Result> {
  const database = connectDatabase(databaseUrl, { poolSize: 4 });
  try {
    const workspaceId = newId();
    await insertWorkspace(database.system, { id: workspaceId, name });
    const db = database.forWorkspace(workspaceId);
    return await work({ db, workspaceId, runtime: { models: { retries: 0 } } }, database.system);
  } finally {
    await database.end();
  }
}

/** Stores passages as a processed source, and returns its id. */
export async function addSource(
  context: KnowledgeContext,
  name: string,
  passages: readonly Passage[],
): Promise<string> {
  const id = newId();
  await context.db
    .insertInto('knowledge_sources')
    .values({
      workspace_id: context.workspaceId,
      id,
      name,
      source_type: 'TEXT_INPUT',
      file_kind: 'text',
      size_bytes: 1,
      processing_status: 'COMPLETED',
      last_processed_at: new Date(),
    })
    .execute();
  await replacePassages(context, id, passages);
  return id;
}
