import { invalid } from '../../core/errors.ts';
import { selectConversations } from '../../db/queries/conversations/conversations.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { conversationListItem } from './bodies.ts';

/** The instant of a query parameter. Leap seconds and offsets without minutes pass the schema and are no Date. */
function instantOf(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()))
    throw invalid(`/query/${name}`, 'must be a date and time, as in RFC 3339', 'format');
  return instant;
}

export const listConversations: Handler<'listConversations'> = async ({ query, db, workspaceId, clock, reply }) => {
  const window = windowOf(query);
  const now = clock.now();
  const { status, agentPublicId, externalUserId, channel, isTest, isEnded } = query;
  const filter = {
    status,
    agentId: agentPublicId,
    externalUserId,
    channel,
    isTest,
    isEnded,
    since: instantOf(query.since, 'since'),
    until: instantOf(query.until, 'until'),
    now,
  };
  const { rows, total } = await selectConversations(db, workspaceId, filter, window);
  return reply(
    200,
    pageOf(
      rows.map((row) => conversationListItem(row, now)),
      total,
      window,
    ),
  );
};
