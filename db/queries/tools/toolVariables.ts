import { type Kysely, sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';

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

/** Writes a value in the place of the one before. Answers false, nothing written, when the tool is not there any more. */
export async function saveToolVariable(
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
        // A deletion waits for the writing, or the writing for the deletion.
        .forShare(),
    )
    .onConflict((conflict) =>
      conflict.constraint('tool_variables_key').doUpdateSet({ value: json, updated_at: sql<Date>`now()` }),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Erases what a tool has written, in every conversation and the workspace. */
export async function deleteToolVariables(trx: Transaction<DB>, workspaceId: string, toolId: string): Promise<void> {
  await trx
    .deleteFrom('tool_variables')
    .where('workspace_id', '=', workspaceId)
    .where('tool_id', '=', toolId)
    .execute();
}
