import type { Kysely, Selectable } from 'kysely';
import type { AiModels, DB } from '../../generated/db.ts';

/** A model that the workspace added to the global catalogue. */
export type AiModelRow = Selectable<AiModels>;

/** The workspace's own models by name. */
export function listCustomModels(db: Kysely<DB>, workspaceId: string): Promise<AiModelRow[]> {
  return db
    .selectFrom('ai_models')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .orderBy('id')
    .execute();
}

/** One of the workspace's own models. */
export function findCustomModel(db: Kysely<DB>, workspaceId: string, id: string): Promise<AiModelRow | undefined> {
  return db
    .selectFrom('ai_models')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}
