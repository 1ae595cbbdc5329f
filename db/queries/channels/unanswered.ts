import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { ChannelConnections, DB } from '../../../generated/db.ts';
import type { StoredInboundFile } from '../../stored/inboundFile.ts';
import type { HeldTurn } from '../turns/leases.ts';

/** A message of a person that is stored in its conversation and waits for an answer. */
export interface UnansweredRow {
  id: string;
  provider_message_id: string;
  message_id: string;
  content: string;
  model_text: string | null;
  files: StoredInboundFile[] | null;
  received_at: Date;
  due_at: Date;
  attempts: number;
  /** The turn that was to answer it. It has come to nothing if the conversation is free. */
  turn_id: string | null;
}

/** A conversation over a channel, as the job that answers in it finds it. */
export interface InboundConversation {
  agent_id: string;
  is_paused: boolean;
  paused_until: Date | null;
  is_ended: boolean;
  connection_id: string;
  channel_type: Selectable<ChannelConnections>['channel_type'];
  /** Whether the connection still works: it is active, and not deleted. */
  is_connected: boolean;
  /** Whether a turn holds it, of whichever process; also one whose process died, until another goes on with it. */
  is_held: boolean;
}

/** The conversation over a channel, if it is there. */
export async function findInboundConversation(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
): Promise<InboundConversation | undefined> {
  const { rows } = await sql<InboundConversation>`
    select c.agent_id, c.is_paused, c.paused_until, c.is_ended, c.connection_id, n.channel_type,
      n.is_active and n.deleted_at is null as is_connected, c.turn_id is not null as is_held
    from conversations c
    join channel_connections n on n.workspace_id = ${workspaceId} and n.id = c.connection_id
    where c.workspace_id = ${workspaceId} and c.id = ${conversationId} and num_nulls(c.deleted_at) = 1`.execute(db);
  return rows[0];
}

/** What waits for an answer in a conversation, in the order in which it was sent. */
export async function selectUnanswered(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
): Promise<UnansweredRow[]> {
  const { rows } = await sql<UnansweredRow>`
    select i.id, i.provider_message_id, i.message_id, m.content, m.model_text, i.files, i.received_at, i.due_at, i.attempts, i.turn_id
    from inbound_messages i
    join messages m on m.workspace_id = ${workspaceId} and m.id = i.message_id
    where i.workspace_id = ${workspaceId} and i.conversation_id = ${conversationId} and i.status = 'taken'
    order by i.sent_at, m.seq`.execute(db);
  return rows;
}

/** Whether something waits for an answer that this turn does not answer. */
export async function hasUnansweredBeside(
  db: Kysely<DB>,
  { workspaceId, conversationId, turnId }: HeldTurn,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from inbound_messages where workspace_id = ${workspaceId} and conversation_id = ${conversationId}
      and status = 'taken' and turn_id is distinct from ${turnId}::uuid) as found`.execute(db);
  return rows[0]?.found === true;
}

/** How a turn came to nothing. */
export interface LostTurn {
  /** INTERRUPTED when its process died, and nobody went on with it. */
  code: string | null;
  message: string | null;
  /** Whether it called a tool that needed no decision, or whose approval was given. */
  hasCalledTools: boolean;
}

/** How a turn came to nothing, of which nobody has noted that. */
export async function findLostTurn(db: Kysely<DB>, workspaceId: string, turnId: string): Promise<LostTurn | undefined> {
  const { rows } = await sql<LostTurn>`
    select error_code as code, error_message as message, exists (select from turn_steps s
      where s.workspace_id = ${workspaceId} and s.turn_id = ${turnId} and s.kind = 'tool' and s.status <> 'waiting') as "hasCalledTools"
    from turns where workspace_id = ${workspaceId} and id = ${turnId}`.execute(db);
  return rows[0];
}

/**
 * SQL condition on a row of `inbound_messages`: no turn answers it now, but for turns that have come to nothing. One that was to answer it and still
 * holds its conversation goes on in another process.
 */
function isLeft(workspaceId: string, turnIds: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`(turn_id is null or turn_id = any (${turnIds}::uuid[]) and not exists (select from conversations c
        where c.workspace_id = ${workspaceId} and c.id = inbound_messages.conversation_id and c.turn_id = inbound_messages.turn_id))`;
}

/** How messages of a person end without an answer. */
export interface Settlement {
  status: 'ignored' | 'failed';
  code: string;
  message: string | null;
  now: Date;
  /** Turns that came to nothing. Messages that another turn has taken meanwhile stay as they are. */
  turnIds?: readonly string[];
}

/** Ends messages that wait for an answer. Those that were settled meanwhile stay as they are. */
export async function updateSettled(
  db: Kysely<DB>,
  workspaceId: string,
  ids: readonly string[],
  { status, code, message, now, turnIds = [] }: Settlement,
): Promise<void> {
  await sql`
    update inbound_messages set status = ${status}, error_code = ${code}, error_message = ${message}, settled_at = ${now}
    where workspace_id = ${workspaceId} and id = any (${ids}::uuid[]) and status in ('received', 'taken')
      and ${isLeft(workspaceId, turnIds)}`.execute(db);
}

/**
 * Lets messages wait for another attempt, unless another turn has taken them meanwhile, or their turn goes on in another process. `counts`:
 * this one counts against the number of attempts.
 */
export async function updateForRetry(
  db: Kysely<DB>,
  workspaceId: string,
  ids: readonly string[],
  {
    dueAt,
    counts,
    code,
    message,
    turnIds,
  }: { dueAt: Date; counts: boolean; code: string | null; message: string | null; turnIds: readonly string[] },
): Promise<void> {
  await sql`
    update inbound_messages set turn_id = null, due_at = ${dueAt}, attempts = attempts + ${counts ? 1 : 0}::int, error_code = ${code},
      error_message = ${message}
    where workspace_id = ${workspaceId} and id = any (${ids}::uuid[]) and status = 'taken'
      and ${isLeft(workspaceId, turnIds)}`.execute(db);
}
