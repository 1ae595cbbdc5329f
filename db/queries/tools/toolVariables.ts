import { type Kysely, sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';

/** Where the value of a variable is stored: for a tool in one conversation, or (null) for the whole workspace. */
export interface ToolVariablePlace {
  workspaceId: string;
  toolId: string;
  conversationId: string | null;
}

/** The stored value; undefined when there is none. */
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

/** Stores a value, replacing the previous one. Returns false and writes nothing when the tool was deleted. */
export async function upsertToolVariable(
  db: Kysely<DB>,
  { workspaceId, toolId, conversationId }: ToolVariablePlace,
  value: unknown,
): Promise<boolean> {
  // jsonb takes JSON text: without it the driver would send a list as a PostgreSQL array and a string as broken JSON.
  const json = JSON.stringify(value);
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('tool_variables')
    .columns(['workspace_id', 'tool_id', 'id', 'conversation_id', 'value'])
    .expression((from) =>
      from
        .selectFrom('http_tools')
        .select((eb) => [
          'workspace_id',
          'id as tool_id',
          eb.cast<string>(eb.val(newId()), 'uuid').as('id'),
          eb.cast<string | null>(eb.val(conversationId), 'uuid').as('conversation_id'),
          eb.cast<string>(eb.val(json), 'jsonb').as('value'),
        ])
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', toolId)
        .where('deleted_at', 'is', null)
        // A concurrent deletion of the tool waits for this statement, or this statement for the deletion.
        .forShare(),
    )
    .onConflict((conflict) =>
      conflict.constraint('tool_variables_key').doUpdateSet({ value: json, updated_at: sql<Date>`now()` }),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Removes the values of a tool's variable, of the workspace and of every conversation. */
export async function removeToolVariables(trx: Transaction<DB>, workspaceId: string, toolId: string): Promise<void> {
  await trx
    .deleteFrom('tool_variables')
    .where('workspace_id', '=', workspaceId)
    .where('tool_id', '=', toolId)
    .execute();
}
