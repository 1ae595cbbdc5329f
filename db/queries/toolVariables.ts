import { type Kysely, sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import type { DB } from '../../generated/db.ts';

/** Whose value a variable has: a tool's, in one conversation or, without one, in the whole workspace. */
export interface ToolVariablePlace {
  workspaceId: string;
  toolId: string;
  conversationId: string | null;
}

/** The value that was written last; undefined when none was. */
export async function findToolVariable(
  db: Kysely<DB>,
  { workspaceId, toolId, conversationId }: ToolVariablePlace,
): Promise<unknown> {
  const row = await db
    .selectFrom('tool_variables')
    .select('value')
    .where('workspace_id', '=', workspaceId)
    .where('tool_id', '=', toolId)
    .where('conversation_id', 'is not distinct from', conversationId)
    .executeTakeFirst();
  return row?.value;
}

/** Writes a value in the place of the one before. */
export async function saveToolVariable(
  db: Kysely<DB>,
  { workspaceId, toolId, conversationId }: ToolVariablePlace,
  value: unknown,
): Promise<void> {
  // jsonb takes JSON text: without it the driver would send a list as a PostgreSQL array and a string as broken JSON.
  const json = JSON.stringify(value);
  await db
    .insertInto('tool_variables')
    .values({ workspace_id: workspaceId, id: newId(), tool_id: toolId, conversation_id: conversationId, value: json })
    .onConflict((conflict) =>
      conflict.constraint('tool_variables_key').doUpdateSet({ value: json, updated_at: sql<Date>`now()` }),
    )
    .execute();
}
