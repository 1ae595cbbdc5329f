import { type Kysely, sql } from 'kysely';
import type { DB } from '../../generated/db.ts';
import type { ConversationRow } from './conversations.ts';
import type { MessageRow } from './messages.ts';

/** How long a turn may hold its conversation without renewing: when its replica dies, others wait no longer. */
export const LEASE_SECONDS = 20;

/** What the user wrote, as it is stored. */
export interface UserMessage {
  id: string;
  content: string;
  attachments: unknown[];
  snippet: string;
}

/** A turn that begins: who takes it, and what it answers. */
export interface TurnStart {
  workspaceId: string;
  conversationId: string;
  agentId: string;
  turnId: string;
  now: Date;
  message: UserMessage;
}

/** What a new conversation is made with. */
export interface ConversationStart {
  externalUserId: string;
  isTest: boolean;
  metadata: Record<string, unknown>;
}

/** Creates a conversation with the user's first message, held by the turn. One statement, so one transaction. */
export async function beginConversation(
  db: Kysely<DB>,
  start: TurnStart,
  conversation: ConversationStart,
): Promise<ConversationRow> {
  const { workspaceId, conversationId, agentId, turnId, now, message } = start;
  const { rows } = await sql<ConversationRow>`
    with conversation as (
      insert into conversations (workspace_id, id, agent_id, external_user_id, is_test, metadata, message_count, started_at,
        last_message_at, last_message_snippet, turn_id, turn_expires_at)
      values (${workspaceId}, ${conversationId}, ${agentId}, ${conversation.externalUserId}, ${conversation.isTest},
        ${JSON.stringify(conversation.metadata)}, 1, ${now}, ${now}, ${message.snippet}, ${turnId},
        now() + make_interval(secs => ${LEASE_SECONDS}))
      returning *
    ), message as (
      insert into messages (workspace_id, id, conversation_id, turn_id, role, content, attachments, cost_ops, sent_at)
      values (${workspaceId}, ${message.id}, ${conversationId}, ${turnId}, 'user', ${message.content},
        ${JSON.stringify(message.attachments)}, 0, ${now})
    )
    select * from conversation`.execute(db);
  if (!rows[0]) throw new Error('The conversation was not stored.');
  return rows[0];
}

/**
 * Takes a conversation that no other turn holds, and stores the user's message in it. Undefined when it is held, paused,
 * ended, deleted or not this agent's; the caller looks which.
 */
export async function claimConversation(db: Kysely<DB>, start: TurnStart): Promise<ConversationRow | undefined> {
  const { workspaceId, conversationId, agentId, turnId, now, message } = start;
  const { rows } = await sql<ConversationRow>`
    with conversation as (
      update conversations set turn_id = ${turnId}, turn_expires_at = now() + make_interval(secs => ${LEASE_SECONDS}),
        message_count = message_count + 1, last_message_at = greatest(last_message_at, ${now}), last_message_snippet = ${message.snippet}
      where workspace_id = ${workspaceId} and id = ${conversationId} and agent_id = ${agentId} and deleted_at is null
        and not is_paused and not is_ended and (turn_id is null or turn_expires_at < now())
      returning *
    ), message as (
      insert into messages (workspace_id, id, conversation_id, turn_id, role, content, attachments, cost_ops, sent_at)
      select workspace_id, ${message.id}, id, ${turnId}, 'user', ${message.content}, ${JSON.stringify(message.attachments)}, 0,
        last_message_at
      from conversation
    )
    select * from conversation`.execute(db);
  return rows[0];
}

/** Keeps the message of a user whose turn never came: nothing that was sent is lost. */
export async function storeUnanswered(db: Kysely<DB>, start: TurnStart): Promise<void> {
  const { workspaceId, conversationId, turnId, now, message } = start;
  await sql`
    with conversation as (
      update conversations set message_count = message_count + 1, last_message_at = greatest(last_message_at, ${now}),
        last_message_snippet = ${message.snippet}
      where workspace_id = ${workspaceId} and id = ${conversationId} and deleted_at is null
      returning *
    )
    insert into messages (workspace_id, id, conversation_id, turn_id, role, content, attachments, cost_ops, sent_at)
    select workspace_id, ${message.id}, id, ${turnId}, 'user', ${message.content}, ${JSON.stringify(message.attachments)}, 0,
      last_message_at
    from conversation`.execute(db);
}

/** What a model answered, as it is stored. */
export interface Reply {
  id: string;
  content: string;
  snippet: string;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  costOps: number;
  now: Date;
}

/**
 * Stores the reply with its usage, counts it to the conversation and frees the conversation: one statement, so all or
 * nothing. Undefined when the turn no longer holds the conversation or it is deleted; then nothing is stored.
 */
export async function finishTurn(
  db: Kysely<DB>,
  turn: { workspaceId: string; conversationId: string; turnId: string },
  reply: Reply,
): Promise<{ conversation: ConversationRow; message: MessageRow } | undefined> {
  const { rows } = await sql<ConversationRow & { message_sent_at: Date }>`
    with conversation as (
      update conversations set turn_id = null, turn_expires_at = null, message_count = message_count + 1,
        last_message_at = greatest(last_message_at, ${reply.now}), last_message_snippet = ${reply.snippet},
        input_tokens = input_tokens + ${reply.inputTokens}, output_tokens = output_tokens + ${reply.outputTokens},
        cost_usd = cost_usd + ${reply.costUsd}
      where workspace_id = ${turn.workspaceId} and id = ${turn.conversationId} and turn_id = ${turn.turnId} and deleted_at is null
      returning *
    ), message as (
      insert into messages (workspace_id, id, conversation_id, turn_id, role, content, model, provider, input_tokens, output_tokens,
        cost_usd, cost_ops, sent_at)
      select workspace_id, ${reply.id}, id, ${turn.turnId}, 'assistant', ${reply.content}, ${reply.model}, ${reply.provider},
        ${reply.inputTokens}, ${reply.outputTokens}, ${reply.costUsd}, ${reply.costOps}, last_message_at
      from conversation
      returning *
    )
    select conversation.*, message.sent_at as message_sent_at from conversation, message`.execute(db);
  const row = rows[0];
  if (!row) return undefined;
  const { message_sent_at: sentAt, ...conversation } = row;
  const message: MessageRow = {
    workspace_id: turn.workspaceId,
    id: reply.id,
    conversation_id: turn.conversationId,
    turn_id: turn.turnId,
    role: 'assistant',
    content: reply.content,
    model: reply.model,
    provider: reply.provider,
    input_tokens: reply.inputTokens,
    output_tokens: reply.outputTokens,
    cost_usd: reply.costUsd,
    cost_ops: reply.costOps,
    sent_at: sentAt,
  };
  return { conversation, message };
}

/** Frees the conversation of a turn that failed; what the user wrote stays. */
export async function releaseConversation(
  db: Kysely<DB>,
  turn: { workspaceId: string; conversationId: string; turnId: string },
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ turn_id: null, turn_expires_at: null })
    .where('workspace_id', '=', turn.workspaceId)
    .where('id', '=', turn.conversationId)
    .where('turn_id', '=', turn.turnId)
    .execute();
}

/** Renews the leases of running turns, of whichever workspace: for the system role. */
export async function renewLeases(
  system: Kysely<DB>,
  turns: readonly { workspaceId: string; conversationId: string; turnId: string }[],
): Promise<void> {
  await sql`
    update conversations set turn_expires_at = now() + make_interval(secs => ${LEASE_SECONDS})
    from unnest(${turns.map((turn) => turn.workspaceId)}::uuid[], ${turns.map((turn) => turn.conversationId)}::uuid[],
      ${turns.map((turn) => turn.turnId)}::uuid[]) as held (workspace_id, conversation_id, turn_id)
    where conversations.workspace_id = held.workspace_id and conversations.id = held.conversation_id
      and conversations.turn_id = held.turn_id`.execute(system);
}

/**
 * Takes one operation of the workspace's month, if its limit leaves one. Exact however many take at once: the row is the
 * counter. A workspace without a limit is not counted here, so its messages do not queue for one row; the first count of
 * a month therefore begins with what its messages add up to. Answers false at the limit.
 */
export async function takeOperation(db: Kysely<DB>, workspaceId: string, now: Date): Promise<boolean> {
  const month = `${now.toISOString().slice(0, 7)}-01`;
  const { rows } = await sql<{ limited: boolean; taken: boolean }>`
    with workspace as (
      select id, operation_limit from workspaces where id = ${workspaceId} and operation_limit is not null
    ), used as (
      select coalesce(sum(cost_ops), 0) as operations from messages, workspace
      where messages.workspace_id = workspace.id and sent_at >= ${month}::date::timestamp at time zone 'UTC'
        and not exists (select from operation_usage where workspace_id = workspace.id and month = ${month}::date)
    ), taken as (
      insert into operation_usage (workspace_id, month, operations)
      select workspace.id, ${month}::date, used.operations + 1 from workspace, used
      where used.operations < workspace.operation_limit
      on conflict (workspace_id, month) do update set operations = operation_usage.operations + 1
      where operation_usage.operations < (select operation_limit from workspace)
      returning 1
    )
    select exists (select from workspace) as limited, exists (select from taken) as taken`.execute(db);
  return !rows[0]?.limited || rows[0].taken;
}

/** Gives back an operation of a turn that failed. */
export async function returnOperation(db: Kysely<DB>, workspaceId: string, now: Date): Promise<void> {
  await sql`
    update operation_usage set operations = operations - 1
    where workspace_id = ${workspaceId} and month = ${`${now.toISOString().slice(0, 7)}-01`}::date and operations > 0`.execute(
    db,
  );
}

/** What a turn must know before it begins: the agent, its workspace's limit, and the conversation if one is continued. */
export interface TurnSubject {
  status: string;
  published_version_number: number | null;
  operation_limit: number | null;
  conversation_id: string | null;
  is_paused: boolean | null;
  is_ended: boolean | null;
  metadata: Record<string, unknown> | null;
}

/** The agent as a turn needs it; undefined when the workspace has no such agent. */
export async function findTurnSubject(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  conversationId: string | null,
): Promise<TurnSubject | undefined> {
  const { rows } = await sql<TurnSubject>`
    select a.status, a.published_version_number, w.operation_limit, c.id as conversation_id, c.is_paused, c.is_ended, c.metadata
    from agents a
    join workspaces w on w.id = a.workspace_id
    left join conversations c on c.workspace_id = a.workspace_id and c.id = ${conversationId}::uuid and c.agent_id = a.id
      and c.deleted_at is null
    where a.workspace_id = ${workspaceId} and a.id = ${agentId} and a.deleted_at is null`.execute(db);
  return rows[0];
}
