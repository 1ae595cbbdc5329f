import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { StoredStepRequest } from '../../stored/stepRequest.ts';

/** Whose step it is, and what its model was sent; null = that is not stored. */
export interface StepRequestRow {
  agent_id: string;
  request: StoredStepRequest | null;
}

/** What the model of a step was sent, as it is stored. Undefined when there is no such step. */
export async function findStepRequest(
  db: Kysely<DB>,
  workspaceId: string,
  turnId: string,
  seq: number,
): Promise<StepRequestRow | undefined> {
  return await db
    .selectFrom('turn_steps')
    .select(['agent_id', 'request'])
    .where('workspace_id', '=', workspaceId)
    .where('turn_id', '=', turnId)
    .where('seq', '=', seq)
    .executeTakeFirst();
}

/** Removes what models were sent in a conversation, and what its turns would go on from. The steps stay, without it. */
export async function clearRequests(db: Kysely<DB>, workspaceId: string, conversationId: string): Promise<void> {
  await sql`
    update turn_steps set request = null, state = null
    where workspace_id = ${workspaceId} and (request is not null or state is not null)
      and turn_id in (select id from turns where workspace_id = ${workspaceId} and conversation_id = ${conversationId})`.execute(
    db,
  );
}
