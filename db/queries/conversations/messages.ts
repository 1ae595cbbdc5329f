import type { Kysely, Selectable } from 'kysely';
import type { DB, Messages } from '../../../generated/db.ts';
import { type Page, type PageOf, selectPage } from '../shared/page.ts';

/** A stored message, without the columns that only the history and the limits need. */
export type MessageRow = Omit<Selectable<Messages>, 'seq' | 'attachments' | 'audio_bytes' | 'author'>;

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
  'model_text',
  'ui',
  'audio_key',
  'sent_at',
] as const;

/** A page of a conversation's messages in the order in which they were stored, or in the reverse order, and their total. */
export function selectMessages(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  filter: { role: MessageRow['role'] | undefined; order: 'asc' | 'desc' },
  page: Page,
): Promise<PageOf<MessageRow>> {
  let matching = db
    .selectFrom('messages')
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId);
  if (filter.role !== undefined) matching = matching.where('role', '=', filter.role);
  return selectPage(
    matching,
    (query) => query.select(COLUMNS).orderBy('sent_at', filter.order).orderBy('seq', filter.order),
    page,
  );
}

/** Keys in the file store of the spoken replies of a conversation. */
export async function selectSpeechKeys(db: Kysely<DB>, workspaceId: string, conversationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('audio_key')
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId)
    .where('audio_key', 'is not', null)
    .execute();
  return rows.flatMap(({ audio_key: key }) => key ?? []);
}

/** Notes that these recordings of a conversation are erased: they count as stored no longer. */
export async function clearSpeechSizes(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  keys: readonly string[],
): Promise<void> {
  await db
    .updateTable('messages')
    .set({ audio_bytes: null })
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId)
    .where('audio_key', 'in', keys)
    .execute();
}
