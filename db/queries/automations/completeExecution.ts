import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** The end user of a conversation that an automation begins is this and the id of the automation. */
export const AUTOMATION_USER = 'automation:';

/**
 * SQL: common table expressions that complete the running execution of the conversation, beside the end of its turn:
 * `conversation` has a row when that is stored.
 */
export function completingExecution(workspaceId: string, conversationId: string, now: Date): RawBuilder<unknown> {
  return sql`execution as (
      update automation_executions set status = 'COMPLETED', completed_at = greatest(started_at, ${now}), error_code = null,
        error_message = null, taken_until = null, event = event - 'text'
      where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and status = 'RUNNING' and exists (select from conversation)
      returning automation_id, begun_at
    ), automation as (
      update automations a set failures_in_row = 0,
        last_run_status = case when a.last_run_at = execution.begun_at then 'COMPLETED' else a.last_run_status end
      from execution where a.workspace_id = ${workspaceId} and a.id = execution.automation_id
    )`;
}

/** Completes the running execution of a conversation whose turn has ended well. */
export async function completeExecution(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  now: Date,
): Promise<void> {
  await sql`with conversation as (select 1 as here), ${completingExecution(workspaceId, conversationId, now)} select from conversation`.execute(
    db,
  );
}
