import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, InboundMessages } from '../../../generated/db.ts';

/** Something that a person sent, as it is stored before it is acknowledged. */
export type InboundRow = Selectable<InboundMessages>;

/** What is stored at receipt. */
export interface ReceivedRow {
  id: string;
  provider_message_id: string;
  person_key: string;
  /** JSON of an InboundEvent. */
  event: unknown;
  sent_at: Date;
}

/**
 * Stores what people sent; what is stored already stays as it is. With a reason it is kept and not worked. One statement: when it has
 * committed, the provider may be told that everything was received. Returns the person keys of what is new.
 */
export async function insertReceived(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
  rows: readonly ReceivedRow[],
  { now, ignoredFor }: { now: Date; ignoredFor: string | null },
): Promise<string[]> {
  const { rows: inserted } = await sql<{ person_key: string }>`
    insert into inbound_messages (workspace_id, connection_id, provider_message_id, id, person_key, event, sent_at, received_at, due_at,
      status, error_code, settled_at)
    select ${workspaceId}, ${connectionId}, provider_message_id, id, person_key, event, sent_at, ${now}, ${now},
      ${ignoredFor === null ? 'received' : 'ignored'}, ${ignoredFor}, ${ignoredFor === null ? null : now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as received (provider_message_id text, id uuid, person_key text, event jsonb,
      sent_at timestamptz)
    on conflict do nothing
    returning person_key`.execute(db);
  return ignoredFor === null ? inserted.map(({ person_key }) => person_key) : [];
}

/** Settled messages of all workspaces from before this time, oldest first, with the keys of their files: a message that failed still has some. */
export async function findSettledInbound(
  system: Kysely<DB>,
  before: Date,
  limit: number,
): Promise<{ workspace_id: string; id: string; keys: string[] }[]> {
  const { rows } = await sql<{ workspace_id: string; id: string; keys: string[] }>`
    select workspace_id, id, array(select file ->> 'key' from jsonb_array_elements(coalesce(files, '[]')) file) as keys
    from inbound_messages where settled_at < ${before} order by settled_at limit ${limit}`.execute(system);
  return rows;
}

/** Removes these messages, of all workspaces, if they are still settled. What became part of a conversation stays in it. */
export async function removeSettledInbound(
  system: Kysely<DB>,
  messages: readonly { workspace_id: string; id: string }[],
  before: Date,
): Promise<void> {
  await sql`
    delete from inbound_messages i
    using unnest(${messages.map((message) => message.workspace_id)}::uuid[], ${messages.map(({ id }) => id)}::uuid[]) as old (workspace_id, id)
    where i.workspace_id = old.workspace_id and i.id = old.id and i.settled_at < ${before}`.execute(system);
}
