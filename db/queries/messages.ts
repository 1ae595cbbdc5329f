import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, Messages } from '../../generated/db.ts';

/** A stored message; what only history needs is left out. */
export type MessageRow = Omit<Selectable<Messages>, 'seq' | 'attachments'>;

const COLUMNS = [
  'workspace_id',
  'id',
  'conversation_id',
  'turn_id',
  'role',
  'content',
  'model',
  'provider',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'cost_ops',
  'sent_at',
] as const;

/** A page of a conversation's messages in the order they were stored, or against it, and how many there are. */
export async function listMessages(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  filter: { role: MessageRow['role'] | undefined; order: 'asc' | 'desc' },
  page: { offset: number; limit: number },
): Promise<{ rows: MessageRow[]; total: number }> {
  let matching = db
    .selectFrom('messages')
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId);
  if (filter.role !== undefined) matching = matching.where('role', '=', filter.role);
  const rows = await matching
    .select(COLUMNS)
    .orderBy('sent_at', filter.order)
    .orderBy('seq', filter.order)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return { rows, total };
}

/** One earlier message, as a model gets to see it. */
export interface HistoryRow {
  role: 'user' | 'assistant';
  content: string;
  attachments: unknown;
}

/** More messages than this are not looked at, however short: beyond it a prompt is history and little else. */
const MOST_MESSAGES = 2000;

/**
 * The newest messages before `beforeMessageId`, oldest first, as far back as `maxBytes` of text reach. The caller counts
 * tokens; this only spares it a conversation that cannot fit anyway.
 */
export async function loadHistory(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  beforeMessageId: string,
  maxBytes: number,
): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    select role, content, attachments from (
      select role, content, attachments, seq, sum(octet_length(content)) over (order by seq desc) as bytes
      from (
        select role, content, attachments, seq from messages
        where workspace_id = ${workspaceId} and conversation_id = ${conversationId}
          and seq < (select seq from messages where workspace_id = ${workspaceId} and id = ${beforeMessageId})
        order by seq desc limit ${MOST_MESSAGES}
      ) newest
    ) sized
    where bytes <= ${maxBytes}
    order by seq`.execute(db);
  return rows;
}
