import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { type Swept, type SweptRow, sweeping, sweptOf } from '../shared/swept.ts';
import { pausedAt } from './pause.ts';

/** A follow-up whose turn did not end is due again after this time. */
export const FOLLOW_UP_RETRY_MINUTES = 15;

/** SQL condition: the agent of conversation `c` can write in it. */
const canWrite = (now: Date) => sql<boolean>`(not ${pausedAt(now, 'c')} and not c.is_ended and exists (
      select from agents a join workspaces w on w.id = a.workspace_id
      where a.workspace_id = c.workspace_id and a.id = c.agent_id and a.status = 'active' and a.published_version_number is not null
        and a.deleted_at is null and w.deleted_at is null))`;

/**
 * Conversations of all workspaces whose follow-up is due and that no turn holds: of each workspace what waits longest, then of each
 * the next, so that one with thousands keeps no other waiting. A follow-up that comes due while its conversation is paused or ended,
 * or its agent not active, is dropped: it would come out of nowhere when that changes. The next time is when one can be sent, if it is due before
 * `horizon`: that is when it is due, or later when the lease of the turn that holds its conversation ends.
 */
export async function findDueFollowUps(
  system: Kysely<DB>,
  { now, horizon, limit }: { now: Date; horizon: Date; limit: number },
): Promise<Swept<{ workspaceId: string; conversationId: string }>> {
  const due = sql<{ workspaceId: string; conversationId: string }>`
    select c.workspace_id as "workspaceId", c.id as "conversationId" from conversations c
    where c.follow_up_at <= ${now} and c.deleted_at is null and c.turn_id is null and ${canWrite(now)}
    order by row_number() over (partition by c.workspace_id order by c.follow_up_at, c.id), c.follow_up_at, c.id limit ${limit}`;
  const next = sql`
    select min(greatest(follow_up_at, turn_expires_at)) from conversations c
    where c.follow_up_at < ${horizon} and c.deleted_at is null and (c.follow_up_at > ${now} or ${canWrite(now)})`;
  const { rows } = await sql<SweptRow<{ workspaceId: string; conversationId: string }>>`
    with dropped as (
      update conversations c set follow_up_at = null
      where c.follow_up_at <= ${now} and c.deleted_at is null and not ${canWrite(now)}
    )
    ${sweeping(due, next)}`.execute(system);
  return sweptOf(rows);
}

/** Since when the follow-up that waits longest is due, of all workspaces; undefined when none is. */
export async function findOldestFollowUpTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date }>`
    select c.follow_up_at as due from conversations c
    where c.follow_up_at <= ${now} and c.deleted_at is null and c.turn_id is null and ${canWrite(now)}
    order by c.follow_up_at limit 1`.execute(system);
  return rows[0]?.due;
}

/** The follow-up of a conversation, if it is due and the agent can write: since when, and how many attempts since the last message came to nothing. */
export async function findDueFollowUp(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  now: Date,
): Promise<{ due: Date; failed: number } | undefined> {
  const { rows } = await sql<{ due: Date; failed: number }>`
    select c.follow_up_at as due, (
        select count(*)::int from turns t
        where t.workspace_id = ${workspaceId} and t.conversation_id = c.id and t.kind = 'follow_up' and t.started_at > c.last_message_at
      ) as failed
    from conversations c
    where c.workspace_id = ${workspaceId} and c.id = ${conversationId} and c.follow_up_at <= ${now} and c.deleted_at is null
      and ${canWrite(now)}`.execute(db);
  return rows[0];
}

/** Moves a follow-up that cannot be sent now, or cancels it. One that was planned again meanwhile stays as it is. */
export async function postponeFollowUp(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  { due, until }: { due: Date; until: Date | null },
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ follow_up_at: until })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', conversationId)
    .where('follow_up_at', '=', due)
    .execute();
}
