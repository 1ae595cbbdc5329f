import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** Counts one message of a day for each of these subjects, and returns how many each has sent that day, in their order. */
export async function countChatMessage(
  db: Kysely<DB>,
  { workspaceId, connectionId, day }: { workspaceId: string; connectionId: string; day: string },
  subjects: readonly Buffer[],
): Promise<number[]> {
  // In one order for all, so that two messages never wait for each other.
  const { rows } = await sql<{ subject: Buffer; messages: number }>`
    insert into chat_usage (workspace_id, connection_id, day, subject, messages)
    select ${workspaceId}, ${connectionId}, ${day}::date, subject, 1 from unnest(${subjects}::bytea[]) as subject order by subject
    on conflict (workspace_id, connection_id, day, subject) do update set messages = chat_usage.messages + 1
    returning subject, messages`.execute(db);
  return subjects.map((subject) => rows.find((row) => row.subject.equals(subject))?.messages ?? 0);
}

/** Removes the counts of the days before this one, of all workspaces. */
export async function removeOldChatUsage(system: Kysely<DB>, day: string): Promise<void> {
  await sql`delete from chat_usage where day < ${day}::date`.execute(system);
}
