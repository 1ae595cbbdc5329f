import { type Kysely, type Selectable, sql } from 'kysely';
import type { Conversations, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { type Page, type PageOf, selectPage } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { pausedAt } from './pause.ts';

/** A conversation of an end user with an agent. */
export type ConversationRow = Selectable<Conversations>;

/** Filters for a list of conversations; undefined = no restriction. */
export interface ConversationFilter {
  status: 'open' | 'paused' | 'ended' | undefined;
  agentId: string | undefined;
  externalUserId: string | undefined;
  channel: ConversationRow['channel'] | undefined;
  isTest: boolean | undefined;
  isEnded: boolean | undefined;
  since: Date | undefined;
  until: Date | undefined;
  /** `status` counts a pause that has passed by then as none. */
  now: Date;
}

/** The conversation, if it exists in the workspace and is not deleted. */
export function findConversation(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<ConversationRow | undefined> {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .executeTakeFirst();
}

/** A page of conversations, newest first, and how many there are on all pages. */
export function selectConversations(
  db: Kysely<DB>,
  workspaceId: string,
  filter: ConversationFilter,
  page: Page,
): Promise<PageOf<ConversationRow>> {
  let matching = db.selectFrom('conversations').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (filter.status === 'ended') matching = matching.where('is_ended', '=', true);
  if (filter.status === 'paused') matching = matching.where('is_ended', '=', false).where(pausedAt(filter.now));
  if (filter.status === 'open')
    matching = matching.where('is_ended', '=', false).where(sql<boolean>`not ${pausedAt(filter.now)}`);
  if (filter.agentId !== undefined) matching = matching.where('agent_id', '=', filter.agentId);
  if (filter.externalUserId !== undefined) matching = matching.where('external_user_id', '=', filter.externalUserId);
  if (filter.channel !== undefined) matching = matching.where('channel', '=', filter.channel);
  if (filter.isTest !== undefined) matching = matching.where('is_test', '=', filter.isTest);
  if (filter.isEnded !== undefined) matching = matching.where('is_ended', '=', filter.isEnded);
  if (filter.since !== undefined) matching = matching.where('last_message_at', '>=', filter.since);
  if (filter.until !== undefined) matching = matching.where('last_message_at', '<=', filter.until);
  return selectPage(matching, (query) => query.selectAll().orderBy('started_at', 'desc').orderBy('id', 'desc'), page);
}

/** Deletes the conversation for the API. Returns whether there was one. */
export function softDeleteConversation(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return softDelete(db, 'conversations', { workspaceId, id }, now);
}

/** Removes the value of a variable from all conversations of the agent. */
export async function forgetVariableValues(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  name: string,
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ metadata: sql`metadata #- array['variables', ${name}]` })
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where(sql<boolean>`jsonb_typeof(metadata -> 'variables') = 'object' and (metadata -> 'variables') ? ${name}`)
    .execute();
}
