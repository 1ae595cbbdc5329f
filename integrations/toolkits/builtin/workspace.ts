import { z } from 'zod';
import { isUuid } from '../../../core/ids.ts';
import { searchConversations } from '../../../db/queries/conversations/conversationSearch.ts';
import { findConversation, selectConversations } from '../../../db/queries/conversations/conversations.ts';
import { selectMessages } from '../../../db/queries/conversations/messages.ts';
import { isPausedAt } from '../../../db/queries/conversations/pause.ts';
import { type RegisterTools, registerTool, ToolRefusal } from './tool.ts';

const limit = (most: number, usual: number) => z.int().min(1).max(most).default(usual).describe('Most results');

/** Registers tools that read the workspace's conversations and knowledge. Users of the agent can learn what other users wrote. */
export const registerWorkspace: RegisterTools = (server, host) => {
  registerTool(
    server,
    host,
    {
      name: 'list_conversations',
      title: 'List conversations',
      description: 'Lists conversations of this workspace, newest first, with the beginning of their last message.',
      input: z.object({
        status: z.enum(['open', 'paused', 'ended']).optional().describe('Only conversations in this state'),
        externalUserId: z.string().max(255).optional().describe('Only conversations of this end user'),
        limit: limit(50, 20),
      }),
    },
    async ({ status, externalUserId, limit: most }) => {
      const { db, workspaceId, clock } = host.context();
      const now = clock.now();
      const any = { agentId: undefined, channel: undefined, isTest: undefined, isEnded: undefined };
      const filter = { ...any, status, externalUserId, since: undefined, until: undefined, now };
      const { rows, total } = await selectConversations(db, workspaceId, filter, { offset: 0, limit: most });
      return {
        total,
        conversations: rows.map((row) => ({
          conversationId: row.id,
          externalUserId: row.external_user_id,
          status: row.is_ended ? 'ended' : isPausedAt(row, now) ? 'paused' : 'open',
          startedAt: row.started_at,
          lastMessageAt: row.last_message_at,
          messages: row.message_count,
          lastMessage: row.last_message_snippet,
        })),
      };
    },
  );
  registerTool(
    server,
    host,
    {
      name: 'search_conversations',
      title: 'Search conversations',
      description: 'Finds messages of recent conversations of this workspace that contain a text, newest first.',
      input: z.object({
        query: z.string().trim().min(2).max(200).describe('The text; any case'),
        limit: limit(50, 20),
      }),
    },
    async ({ query, limit: most }) => {
      const { db, workspaceId } = host.context();
      const rows = await searchConversations(db, workspaceId, query, most);
      return rows.map((row) => ({
        conversationId: row.conversation_id,
        role: row.role,
        sentAt: row.sent_at,
        excerpt: excerpt(row.content, query),
      }));
    },
  );
  registerTool(
    server,
    host,
    {
      name: 'read_conversation',
      title: 'Read a conversation',
      description: 'Reads the latest messages of a conversation of this workspace, in the order they were sent.',
      input: z.object({
        conversationId: z.string().describe('Id of the conversation, as the other tools tell it'),
        limit: limit(100, 50),
      }),
    },
    async ({ conversationId, limit: most }) => {
      const { db, workspaceId } = host.context();
      const known = isUuid(conversationId) && (await findConversation(db, workspaceId, conversationId));
      if (!known) throw new ToolRefusal('There is no conversation with this id.');
      const filter = { role: undefined, order: 'desc' as const };
      const { rows, total } = await selectMessages(db, workspaceId, conversationId, filter, { offset: 0, limit: most });
      return {
        total,
        messages: rows.reverse().map(({ role, sent_at, content }) => ({ role, sentAt: sent_at, content })),
      };
    },
  );
  registerTool(
    server,
    host,
    {
      name: 'search_knowledge',
      title: 'Search knowledge',
      description: 'Finds passages of the knowledge sources of this workspace that answer a question, best first.',
      input: z.object({ query: z.string().trim().min(1).max(500).describe('What to look for'), limit: limit(20, 5) }),
    },
    ({ query, limit: most }) => host.context().searchKnowledge(query, most),
  );
};

/** Returns the text around the first match. */
function excerpt(content: string, query: string): string {
  const found = Math.max(0, content.toLowerCase().indexOf(query.toLowerCase()));
  const start = Math.max(0, found - 100);
  const end = Math.min(content.length, found + query.length + 200);
  return `${start > 0 ? '…' : ''}${content.slice(start, end)}${end < content.length ? '…' : ''}`;
}
