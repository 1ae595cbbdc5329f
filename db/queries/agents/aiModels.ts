import type { Insertable, Kysely, Selectable } from 'kysely';
import type { AiModels, DB } from '../../../generated/db.ts';
import { softDelete } from '../shared/softDelete.ts';
import { revising } from '../workspaces/revision.ts';

/** A model that the workspace added to the global catalogue. */
export type AiModelRow = Selectable<AiModels>;

/** The workspace's own models by name. */
export function selectCustomModels(db: Kysely<DB>, workspaceId: string): Promise<AiModelRow[]> {
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

/** Adds a model to the workspace. Fails on `ai_models_model_key` when it has this model of this provider already. */
export async function insertCustomModel(db: Kysely<DB>, row: Insertable<AiModels>): Promise<void> {
  await revising(db, row.workspace_id, (trx) => trx.insertInto('ai_models').values(row).execute());
}

/** Deletes a model of the workspace; agents that chose it keep its id. Returns whether there was one. */
export function softDeleteCustomModel(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return revising(db, workspaceId, (trx) => softDelete(trx, 'ai_models', { workspaceId, id }, now, { active: false }));
}
