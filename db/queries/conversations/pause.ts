import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import type { ConversationRow } from './conversations.ts';

/** Who takes a conversation over from the agent, and for how long. */
export interface Pause {
  by: NonNullable<ConversationRow['paused_by']>;
  /** When the agent answers again by itself; null = when an operator resumes the conversation. */
  until: Date | null;
  now: Date;
}

/** The columns of a conversation that say whether it is paused. */
export type PauseState = Pick<ConversationRow, 'is_paused' | 'paused_until'>;

/** Whether the conversation is paused. A pause ends at its time, also when no sweep has come since. */
export function isPausedAt({ is_paused, paused_until }: PauseState, now: Date): boolean {
  return is_paused && (paused_until === null || paused_until > now);
}

/** SQL condition: as `isPausedAt`, for the row `alias` of `conversations`. */
export function pausedAt(now: Date, alias = 'conversations'): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql<boolean>`(${column('is_paused')} and coalesce(${column('paused_until')} > ${now}, true))`;
}

/**
 * SQL assignments for a row of `conversations`: pauses it. An operator's pause is as the operator says. Any other pause makes the present
 * one no shorter, with one exception: when a person comes after the agent or the user asked for one, the pause ends with that
 * person's.
 */
export function pausing({ by, until, now }: Pause): RawBuilder<unknown> {
  if (by === 'operator') return sql`is_paused = true, paused_by = ${by}, paused_until = ${until}`;
  const holds = pausedAt(now);
  const asked = sql`coalesce(paused_by, 'operator') in ('agent', 'user')`;
  const kept = by === 'person' ? sql`${holds} and not ${asked}` : holds;
  return sql`is_paused = true,
        paused_by = case when ${holds} and coalesce(paused_by, 'operator') = 'operator' then 'operator' else ${by} end,
        paused_until = case when ${kept} and paused_until is null then null
          when ${kept} and ${until}::timestamptz is not null then greatest(paused_until, ${until}::timestamptz) else ${until}::timestamptz end`;
}

/** Pauses a conversation: its agent does not answer. Returns it as it is then; undefined when there is none. */
export async function pauseConversation(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  pause: Pause,
): Promise<ConversationRow | undefined> {
  const { rows } = await sql<ConversationRow>`
    update conversations set ${pausing(pause)}
    where workspace_id = ${workspaceId} and id = ${conversationId} and ${notDeletedByKey()}
    returning *`.execute(db);
  return rows[0];
}

/** Ends the pause of a conversation. Returns the conversation; undefined when there is none. No turn begins by that. */
export async function endPause(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
): Promise<ConversationRow | undefined> {
  return await db
    .updateTable('conversations')
    .set({ is_paused: false, paused_by: null, paused_until: null })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', conversationId)
    .where(notDeletedByKey())
    .returningAll()
    .executeTakeFirst();
}

/** Conversations that are paused, of every workspace or of one, the latest message first. `system` sees all workspaces. */
export async function selectPausedConversations(
  system: Kysely<DB>,
  workspaceId: string | undefined,
  { now, limit }: { now: Date; limit: number },
): Promise<ConversationRow[]> {
  let paused = system
    .selectFrom('conversations')
    .selectAll()
    .where(pausedAt(now))
    .where('is_ended', '=', false)
    .where('deleted_at', 'is', null);
  if (workspaceId !== undefined) paused = paused.where('workspace_id', '=', workspaceId);
  return await paused.orderBy('last_message_at', 'desc').orderBy('id').limit(limit).execute();
}

/**
 * Notes of conversations of all workspaces that their pause has passed. They count as not paused already: this is for those who read the
 * row. Returns when the next pause will have passed; undefined when none has an end.
 */
export async function endPassedPauses(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ next: Date | null }>`
    with ended as (
      update conversations set is_paused = false, paused_by = null, paused_until = null where paused_until <= ${now}
    )
    select min(paused_until) as next from conversations where paused_until > ${now}`.execute(system);
  return rows[0]?.next ?? undefined;
}
