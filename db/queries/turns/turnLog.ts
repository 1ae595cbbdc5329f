import { type Kysely, type Selectable, sql } from 'kysely';
import type { Approvals, DB, TurnSteps, Turns } from '../../../generated/db.ts';

const TURN_COLUMNS = [
  'workspace_id',
  'id',
  'conversation_id',
  'agent_id',
  'version_number',
  'kind',
  'status',
  'error_code',
  'error_message',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'started_at',
  'ended_at',
] as const;
/** Without what models were sent, which may be large: runtime/agent/storedRequest.ts reads it. */
const STEP_COLUMNS = [
  'seq',
  'agent_id',
  'depth',
  'kind',
  'name',
  'provider',
  'status',
  'input',
  'output',
  'duration_ms',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'finish_reason',
  'cost_usd',
  'started_at',
] as const;
const APPROVAL_COLUMNS = ['id', 'tool_name', 'status', 'requested_at', 'decided_at', 'decided_by'] as const;

/** A turn as it is read afterwards. */
export type LoggedTurn = Pick<Selectable<Turns>, (typeof TURN_COLUMNS)[number]>;

/** A step of a turn as it is read afterwards. */
export type LoggedStep = Pick<Selectable<TurnSteps>, (typeof STEP_COLUMNS)[number]>;

/** Everything that a turn did. */
export interface TurnRecord {
  turn: LoggedTurn;
  /** The message that it answered and its replies, in their order. */
  messages: { id: string; role: string; content: string }[];
  steps: LoggedStep[];
  /** The approvals that it asked for. */
  approvals: Pick<Selectable<Approvals>, (typeof APPROVAL_COLUMNS)[number]>[];
}

/** The workspace of a conversation or a turn, unless the conversation is deleted. `system` sees all workspaces. */
export async function workspaceOf(
  system: Kysely<DB>,
  what: 'conversation' | 'turn',
  id: string,
): Promise<string | undefined> {
  // The primary keys begin with the workspace, so one lookup for each workspace is faster than reading all rows.
  const conversationId =
    what === 'conversation'
      ? sql`${id}`
      : sql`(select t.conversation_id from turns t where t.workspace_id = w.id and t.id = ${id})`;
  const { rows } = await sql<{ id: string }>`
    select w.id from workspaces w
    cross join lateral (
      select from conversations c where c.workspace_id = w.id and c.id = ${conversationId} and c.deleted_at is null
    ) as found
    where w.deleted_at is null`.execute(system);
  return rows[0]?.id;
}

/** Turns of a conversation, latest first. */
export function selectTurns(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  limit: number,
): Promise<LoggedTurn[]> {
  return db
    .selectFrom('turns')
    .select(TURN_COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** A turn with everything that it did. */
export async function findTurnRecord(db: Kysely<DB>, workspaceId: string, id: string): Promise<TurnRecord | undefined> {
  const turn = await db
    .selectFrom('turns')
    .select(TURN_COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!turn) return undefined;
  const messages = await db
    .selectFrom('messages')
    .select(['id', 'role', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', turn.conversation_id)
    .where('turn_id', '=', id)
    .orderBy('seq')
    .execute();
  const steps = await db
    .selectFrom('turn_steps')
    .select(STEP_COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('turn_id', '=', id)
    .orderBy('seq')
    .execute();
  const approvals = await db
    .selectFrom('approvals')
    .select(APPROVAL_COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('turn_id', '=', id)
    .orderBy('requested_at')
    .orderBy('id')
    .execute();
  return { turn, messages, steps, approvals };
}
