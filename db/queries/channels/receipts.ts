import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** What a provider says became of a message that we sent. */
export interface Receipt {
  provider_message_id: string;
  /** Our own id of the delivery, where the provider hands it back. */
  delivery_id: string | null;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  error_code: string | null;
  error_message: string | null;
  at: Date;
}

/** The code of a delivery whose process died while it was being sent: nobody knows whether the provider took it. */
export const OUTCOME_UNKNOWN = 'OUTCOME_UNKNOWN';

/** SQL value: how far a receipt says that a message has come. */
const rankOfReceipt = sql`case status when 'sent' then 3 when 'delivered' then 4 when 'read' then 5 end`;

/**
 * SQL value: how far the delivery `d` has come. After a failure only the delivery itself counts; a message that was sent before it failed
 * may be told to have been sent after it.
 */
const rankOfDelivery = sql`case d.status when 'queued' then 0 when 'sending' then 1 when 'sent' then 3 when 'delivered' then 4
      when 'read' then 5 else case when d.error_code = ${sql.lit(OUTCOME_UNKNOWN)} then 1 else 3 end end`;

/**
 * Notes what became of deliveries. Receipts come in any order and more than once: the furthest status stays, and each time is that of the
 * first receipt. A message that was read was delivered. Those of a message whose sending is not stored yet are kept for the statement
 * that stores it.
 */
export async function updateByReceipts(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
  receipts: readonly Receipt[],
  now: Date,
): Promise<void> {
  const found = (on: RawBuilder<unknown>) => sql`select d.id as delivery, r.* from receipt r
      join deliveries d on d.workspace_id = ${workspaceId} and d.connection_id = ${connectionId} and ${on}`;
  await sql`
    with receipt as (
      select * from jsonb_to_recordset(${JSON.stringify(receipts)}::jsonb) as receipt (provider_message_id text, delivery_id uuid,
        status text, error_code text, error_message text, at timestamptz)
    ), matched as (
      ${found(sql`d.provider_message_id = r.provider_message_id`)} union ${found(sql`d.id = r.delivery_id`)}
    ), early as (
      insert into early_receipts (workspace_id, connection_id, provider_message_id, status, at, error_code, error_message, created_at)
      select distinct on (provider_message_id, status) ${workspaceId}::uuid, ${connectionId}::uuid, provider_message_id, status, at,
        error_code, error_message, ${now}::timestamptz
      from receipt where provider_message_id not in (select provider_message_id from matched) and exists (
        select from deliveries where workspace_id = ${workspaceId} and connection_id = ${connectionId} and status = 'sending')
      on conflict do nothing
    )
    ${applyingReceipts(workspaceId, sql`matched`)}`.execute(db);
}

/**
 * SQL statement: applies receipts to deliveries. `source` has the columns of a receipt, and `delivery`, the id of its delivery. A failure
 * counts until the message is delivered.
 */
export function applyingReceipts(workspaceId: string, source: RawBuilder<unknown>): RawBuilder<unknown> {
  const fails = sql`(news.failed and coalesce(news.rank, 0) < 4 and d.status in ('queued', 'sending', 'sent'))`;
  const gains = sql`(coalesce(news.rank, 0) > ${rankOfDelivery})`;
  return sql`update deliveries d set
      provider_message_id = coalesce(d.provider_message_id, news.provider_message_id),
      status = case when ${fails} then 'failed' when ${gains} then news.furthest else d.status end,
      error_code = case when ${fails} then coalesce(news.error_code, 'FAILED') when ${gains} then null else d.error_code end,
      error_message = case when ${fails} then news.error_message when ${gains} then null else d.error_message end,
      sent_at = coalesce(d.sent_at, news.first_at),
      delivered_at = coalesce(d.delivered_at, news.delivered_at, news.read_at),
      read_at = coalesce(d.read_at, news.read_at)
    from (
      select delivery, min(provider_message_id) as provider_message_id, min(at) filter (where status <> 'failed') as first_at,
        min(at) filter (where status = 'delivered') as delivered_at, min(at) filter (where status = 'read') as read_at,
        coalesce(bool_or(status = 'failed'), false) as failed, max(error_code) as error_code, max(error_message) as error_message,
        max(${rankOfReceipt}) as rank, (array_agg(status order by ${rankOfReceipt} desc) filter (where status <> 'failed'))[1] as furthest
      from ${source} as each group by delivery
    ) news
    where d.workspace_id = ${workspaceId} and d.id = news.delivery`;
}
