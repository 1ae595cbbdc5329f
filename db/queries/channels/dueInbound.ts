import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';

/** A person whose messages are to be taken. */
export interface DuePerson {
  workspaceId: string;
  connectionId: string;
  person: string;
}

/** A conversation in which messages are to be answered, or are to go out. */
export interface DueConversation {
  workspaceId: string;
  conversationId: string;
}

/** SQL value: the place of a row among those of its workspace: a workspace with thousands keeps no other waiting. */
const turnOf = sql`row_number() over (partition by workspace_id order by due_at)`;

/** SQL query: when the next message of all workspaces that waits with this status will be due. */
const nextInbound = (status: 'received' | 'taken', now: Date) => sql`
    select min(due_at) from inbound_messages where status = ${status} and status in ('received', 'taken') and due_at > ${now}`;

/** People of all workspaces whose messages are due to be taken. */
export async function findDuePeople(system: Kysely<DB>, now: Date, limit: number): Promise<Swept<DuePerson>> {
  const due = sql<DuePerson>`
    select workspace_id as "workspaceId", connection_id as "connectionId", person_key as person from (
      select workspace_id, connection_id, person_key, min(due_at) as due_at from inbound_messages
      where status = 'received' and due_at <= ${now} group by 1, 2, 3
    ) due order by ${turnOf}, due_at limit ${limit}`;
  const { rows } = await sweeping(due, nextInbound('received', now)).execute(system);
  return sweptOf(rows);
}

/** Conversations of all workspaces in which something is due to be answered and that no turn holds. */
export async function findDueAnswers(system: Kysely<DB>, now: Date, limit: number): Promise<Swept<DueConversation>> {
  const due = sql<DueConversation>`
    select workspace_id as "workspaceId", conversation_id as "conversationId" from (
      select i.workspace_id, i.conversation_id, max(i.due_at) as due_at from inbound_messages i
      join conversations c on c.workspace_id = i.workspace_id and c.id = i.conversation_id
      where i.status = 'taken' and i.due_at <= ${now} and c.turn_id is null group by 1, 2
    ) due order by ${turnOf}, due_at limit ${limit}`;
  const { rows } = await sweeping(due, nextInbound('taken', now)).execute(system);
  return sweptOf(rows);
}

/** Since when the message of all workspaces that waits longest with this status is due; undefined when none is. */
export async function findOldestInboundTime(
  system: Kysely<DB>,
  status: 'received' | 'taken',
  now: Date,
): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date }>`
    select i.due_at as due from inbound_messages i
    left join conversations c on c.workspace_id = i.workspace_id and c.id = i.conversation_id
    where i.status = ${status} and i.status in ('received', 'taken') and i.due_at <= ${now} and c.turn_id is null
    order by i.due_at limit 1`.execute(system);
  return rows[0]?.due;
}
