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

/** Rows that one statement removes. */
const MAX_REMOVED_INBOUND = 1_000;

/** Removes the messages of all workspaces that were settled before this time. What became part of a conversation stays in it. */
export async function removeSettledInbound(system: Kysely<DB>, before: Date): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from inbound_messages i using (
        select workspace_id, id from inbound_messages
        where settled_at < ${before} order by settled_at limit ${sql.lit(MAX_REMOVED_INBOUND)} for update skip locked
      ) as old
      where i.workspace_id = old.workspace_id and i.id = old.id`.execute(system);
    if (numAffectedRows < BigInt(MAX_REMOVED_INBOUND)) return;
  }
}
