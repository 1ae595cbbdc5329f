import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** A turn may hold its conversation for this time without a renewal. When its process dies, others wait no longer than that. */
export const LEASE_SECONDS = 20;

/** SQL value: until when a turn holds its conversation that takes it now, or renews its lease. */
export const lease = sql`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`;

/** SQL condition on a row of `conversations`: the process of the turn that holds it has died, or had no database for so long. */
export const isDead = sql<boolean>`(turn_id is not null and turn_expires_at < now())`;

/** A turn that holds a conversation. */
export interface HeldTurn {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** 1, and one more for each process that took the turn over. What an earlier attempt still does is not stored. */
  readonly attempt: number;
}

/** SQL condition on a row of `conversations`: this attempt at the turn holds it. */
export function heldBy({ workspaceId, conversationId, turnId, attempt }: HeldTurn): RawBuilder<boolean> {
  return sql<boolean>`workspace_id = ${workspaceId} and id = ${conversationId} and turn_id = ${turnId} and turn_attempt = ${attempt}`;
}

/** Renews the leases of running turns of all workspaces. Returns those that still hold their conversation. */
export async function renewLeases(system: Kysely<DB>, turns: readonly HeldTurn[]): Promise<Set<HeldTurn>> {
  const { rows } = await sql<{ place: number }>`
    update conversations set turn_expires_at = ${lease}
    from unnest(${turns.map((turn) => turn.workspaceId)}::uuid[], ${turns.map((turn) => turn.conversationId)}::uuid[],
      ${turns.map((turn) => turn.turnId)}::uuid[], ${turns.map((turn) => turn.attempt)}::int[])
      with ordinality as held (workspace_id, conversation_id, turn_id, attempt, place)
    where conversations.workspace_id = held.workspace_id and conversations.id = held.conversation_id
      and conversations.turn_id = held.turn_id and conversations.turn_attempt = held.attempt
    returning held.place`.execute(system);
  return new Set(rows.flatMap(({ place }) => turns[place - 1] ?? []));
}
