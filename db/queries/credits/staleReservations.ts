import { type Kysely, sql } from 'kysely';
import type { CreditReservations, DB } from '../../../generated/db.ts';
import { releasing } from './settle.ts';

/** A reservation, as its turn names it. */
type ReservationKey = Pick<CreditReservations, 'workspace_id' | 'turn_id' | 'conversation_id'>;

/** A turn stores its reservation with the conversation that it holds, so one that is so old and held by none has been left. */
const AGE_SECONDS = 60;

/** Reservations of all workspaces whose turn holds its conversation no more: its end could not be stored, or the conversation is gone. */
export async function findStaleReservations(system: Kysely<DB>, limit: number): Promise<ReservationKey[]> {
  const { rows } = await sql<ReservationKey>`
    select r.workspace_id, r.turn_id, r.conversation_id from credit_reservations r
    where r.created_at < now() - make_interval(secs => ${sql.lit(AGE_SECONDS)}) and not exists (
      select from conversations c where c.workspace_id = r.workspace_id and c.id = r.conversation_id and c.turn_id = r.turn_id)
    order by r.created_at limit ${limit}`.execute(system);
  return rows;
}

/** Releases one of them. What the turn cost in USD counts to its budgets. */
export async function releaseReservation(
  system: Kysely<DB>,
  { workspace_id: workspaceId, turn_id: turnId, conversation_id: conversationId }: ReservationKey,
  now: Date,
): Promise<void> {
  const costUsd = sql`coalesce((select cost_usd from turns where workspace_id = ${workspaceId} and id = ${turnId}), 0)`;
  const isLeft = sql`not exists (select from conversations
        where workspace_id = ${workspaceId} and id = ${conversationId} and turn_id = ${turnId})`;
  await sql`with ${releasing({ workspaceId, turnId: sql`${turnId}`, costUsd, costOps: 0, now }, isLeft)} select 1`.execute(
    system,
  );
}
