import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { DB, TurnSteps, Turns } from '../../../generated/db.ts';
import type { StoredAttachment } from '../../stored/attachment.ts';
import type { StoredInboundFile } from '../../stored/inboundFile.ts';
import { inTransaction } from '../../transaction.ts';
import { removeLiveReplies } from '../channels/liveReplies.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import { releasing } from '../credits/settle.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';
import type { WaitingTurn } from './claimConversation.ts';
import { endingUncounted } from './finishTurn.ts';
import { type HeldTurn, heldBy, isDead, lease } from './leases.ts';

/** Code of a turn that ended because its process died, and no other went on with it. */
export const INTERRUPTED = 'INTERRUPTED';

/** A conversation whose turn has lost its process. */
export interface DeadConversation {
  workspaceId: string;
  conversationId: string;
}

/**
 * Conversations of all workspaces whose turn has lost its process: of each workspace the one that waits longest, then of each the next. The next time
 * is when the next lease ends, unless it is renewed.
 */
export async function findDeadTurns(system: Kysely<DB>, limit: number): Promise<Swept<DeadConversation>> {
  const due = sql<DeadConversation>`
    select workspace_id as "workspaceId", id as "conversationId" from conversations where ${isDead}
    order by row_number() over (partition by workspace_id order by turn_expires_at), turn_expires_at limit ${limit}`;
  const next = sql`select min(turn_expires_at) from conversations where turn_id is not null and not ${isDead}`;
  const { rows } = await sweeping(due, next).execute(system);
  return sweptOf(rows);
}

/** Since when the turn that waits longest for another process has none, of all workspaces; undefined when none waits. */
export async function findOldestDeadTurn(system: Kysely<DB>): Promise<Date | undefined> {
  const { rows } = await sql<{ since: Date | null }>`
    select min(turn_expires_at) as since from conversations where ${isDead}`.execute(system);
  return rows[0]?.since ?? undefined;
}

/** A message that a turn answers, as it is stored. */
export interface AnsweredMessage {
  id: string;
  content: string;
  model_text: string | null;
  attachments: StoredAttachment[];
  seq: number;
  /** Files of a message that came over a channel, until it is answered. */
  files: StoredInboundFile[] | null;
}

/** A turn that was taken over from a dead process, and everything that was stored of it. */
export interface DeadTurn {
  held: HeldTurn;
  conversation: ConversationRow;
  turn: Selectable<Turns>;
  steps: Selectable<TurnSteps>[];
  /** In their order. */
  messages: AnsweredMessage[];
  /** The turns of the conversation that wait, the oldest first. */
  waiting: WaitingTurn[];
}

/**
 * Takes over the turn that holds the conversation, if its process has died: one caller gets it, and what an earlier attempt still does is
 * not stored from then on. Calls that were under way are ended, with `unknown` as their outcome; delegations to sub-agents are left as they
 * are. Undefined when no turn holds it, its process lives, or another one was faster.
 */
export async function takeDeadTurn(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  unknown: string,
): Promise<DeadTurn | undefined> {
  return inTransaction(db, async (trx) => {
    const taken = await sql<ConversationRow>`
      update conversations set turn_attempt = turn_attempt + 1, turn_expires_at = ${lease}
      where workspace_id = ${workspaceId} and id = ${conversationId} and ${isDead} returning *`.execute(trx);
    const [conversation] = taken.rows;
    if (!conversation?.turn_id) return undefined;
    const { turn_id: turnId, turn_attempt: attempt } = conversation;
    // A chat page shows no beginning of a reply that nobody writes any more.
    await removeLiveReplies(trx, workspaceId, conversationId);
    const turn = await trx
      .selectFrom('turns')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', turnId)
      .executeTakeFirst();
    if (turn?.status !== 'running') {
      await sql`update conversations set turn_id = null, turn_expires_at = null
        where workspace_id = ${workspaceId} and id = ${conversationId}`.execute(trx);
      return undefined;
    }
    await sql`
      update turn_steps set status = 'failed', output = ${JSON.stringify({ text: unknown, isError: true })}::jsonb
      where workspace_id = ${workspaceId} and turn_id = ${turnId} and kind = 'tool' and status = 'running'
        and state #>> '{origin,kind}' is distinct from 'sub_agent'`.execute(trx);
    const steps = await trx
      .selectFrom('turn_steps')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('turn_id', '=', turnId)
      .orderBy('seq')
      .execute();
    const messages = await sql<AnsweredMessage>`
      select m.id, m.content, m.model_text, m.attachments, m.seq, i.files from messages m
      left join inbound_messages i on i.workspace_id = ${workspaceId} and i.message_id = m.id and i.status = 'taken'
      where m.workspace_id = ${workspaceId} and m.conversation_id = ${conversationId} and m.turn_id = ${turnId} and m.role = 'user'
      order by m.seq`.execute(trx);
    const waiting = await trx
      .selectFrom('turns')
      .select(['id', 'paused'])
      .where('workspace_id', '=', workspaceId)
      .where('conversation_id', '=', conversationId)
      .where('paused', 'is not', null)
      .orderBy('id')
      .execute();
    const held = { workspaceId, conversationId, turnId, attempt };
    return {
      held,
      conversation,
      turn,
      steps,
      messages: messages.rows,
      waiting: waiting.flatMap(({ id, paused }) => (paused ? [{ id, paused }] : [])),
    };
  });
}

/**
 * SQL value: the usage of a turn's steps, as JSON. A turn stores its usage when it ends; for one whose process died, the steps are the only
 * source.
 */
function spentOf({ workspaceId, turnId }: HeldTurn): RawBuilder<unknown> {
  return sql`(select jsonb_build_object('input', coalesce(sum(s.input_tokens), 0), 'output', coalesce(sum(s.output_tokens), 0),
      'cost', coalesce(sum(s.cost_usd), 0)) from turn_steps s where s.workspace_id = ${workspaceId} and s.turn_id = ${turnId})`;
}

/** SQL assignments: adds the usage to a row's own sums. */
const addingSpent = sql`input_tokens = input_tokens + coalesce((died.spent ->> 'input')::bigint, 0),
        output_tokens = output_tokens + coalesce((died.spent ->> 'output')::bigint, 0),
        cost_usd = cost_usd + coalesce((died.spent ->> 'cost')::numeric, 0)`;

/**
 * Ends a turn that was taken over and is not gone on with: it is INTERRUPTED for this reason, what it had reserved is free again, and so is
 * its conversation. What its steps used counts; what it took from the quota at `countedAt` comes back.
 */
export async function interruptTurn(
  db: Kysely<DB>,
  turn: HeldTurn,
  { reason, now, countedAt }: { reason: string; now: Date; countedAt: Date | undefined },
): Promise<void> {
  const { workspaceId, turnId } = turn;
  const ending = sql`
    update turns set status = 'interrupted', error_code = ${INTERRUPTED}, error_message = ${reason}, request = null,
      ended_at = greatest(started_at, ${now}), ${addingSpent}
    from died where turns.workspace_id = ${workspaceId} and turns.id = ${turnId} and turns.status = 'running'`;
  await sql`
    with held as (
      select id from conversations where ${heldBy(turn)} for update
    ), died as (
      select held.id as conversation_id, ${spentOf(turn)} as spent from held
    ), freed as (
      update conversations set turn_id = null, turn_expires_at = null, ${addingSpent}
      from died where conversations.workspace_id = ${workspaceId} and conversations.id = died.conversation_id
    ), ${releasing(
      {
        workspaceId,
        turnId: sql`${turnId}`,
        costUsd: sql`coalesce((select (spent ->> 'cost')::numeric from died), 0)`,
        costOps: 0,
        now,
      },
      sql`exists (select from held)`,
    )}
    ${endingUncounted(ending, { workspaceId, countedAt, released: true })}`.execute(db);
}
