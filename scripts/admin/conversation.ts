import type { Database } from '../../db/connect.ts';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import { endPause, pauseConversation, selectPausedConversations } from '../../db/queries/conversations/pause.ts';
import { workspaceOf } from '../../db/queries/turns/turnLog.ts';
import { type Command, CommandError, number, optionalUuid, table, uuid } from './command.ts';
import { printable } from './printable.ts';

const HOUR_MS = 60 * 60 * 1000;
const HOURS = { min: 0.01, max: 24 * 365 };
const LIMIT = { min: 1, max: 1000, integer: true };
const DEFAULT_LIMIT = 100;

function shown(row: ConversationRow) {
  return {
    conversationPublicId: row.id,
    workspacePublicId: row.workspace_id,
    agentPublicId: row.agent_id,
    channel: row.channel,
    externalUserId: row.external_user_id,
    isPaused: row.is_paused,
    pausedBy: row.paused_by,
    pausedUntil: row.paused_until,
    lastMessageAt: row.last_message_at,
  };
}

/** A command that changes one conversation, which is named by its id alone. */
function changing(
  id: string,
  change: (db: Database, workspaceId: string) => Promise<ConversationRow | undefined>,
  text: (row: ConversationRow) => string,
) {
  return async (database: Database) => {
    const workspaceId = await workspaceOf(database.system, 'conversation', id);
    const row = workspaceId && (await change(database, workspaceId));
    if (!row) throw new CommandError(`There is no conversation ${id}`);
    return { json: shown(row), text: text(row) };
  };
}

/** Conversations that a person takes over from the agent. */
export const conversationCommands: Record<string, Command> = {
  list: {
    usage: '[--workspace ID] [--limit N]',
    words: 0,
    options: { workspace: { type: 'string' }, limit: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = optionalUuid(options.workspace, '--workspace');
      const limit = number(options.limit, '--limit', LIMIT) ?? DEFAULT_LIMIT;
      return async ({ system }) => {
        const rows = await selectPausedConversations(system, workspaceId, { now: new Date(), limit });
        return {
          json: rows.map(shown),
          text: table(
            ['CONVERSATION', 'CHANNEL', 'USER', 'PAUSED BY', 'UNTIL', 'LAST MESSAGE'],
            rows.map((row) => [
              row.id,
              row.channel,
              printable(row.external_user_id),
              row.paused_by ?? '',
              row.paused_until?.toISOString() ?? 'resumed',
              row.last_message_at.toISOString(),
            ]),
          ),
        };
      };
    },
  },
  pause: {
    usage: 'CONVERSATIONID [--hours N]',
    words: 1,
    options: { hours: { type: 'string' } },
    prepare([word], options) {
      const id = uuid(word, 'CONVERSATIONID');
      const hours = number(options.hours, '--hours', HOURS);
      return changing(
        id,
        (database, workspaceId) => {
          const now = new Date();
          const until = hours === undefined ? null : new Date(now.getTime() + hours * HOUR_MS);
          return pauseConversation(database.forWorkspace(workspaceId), workspaceId, id, { by: 'operator', until, now });
        },
        ({ paused_until: until }) =>
          `conversation ${id} is paused until ${until?.toISOString() ?? 'it is resumed'}: its agent does not answer`,
      );
    },
  },
  resume: {
    usage: 'CONVERSATIONID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'CONVERSATIONID');
      return changing(
        id,
        (database, workspaceId) => endPause(database.forWorkspace(workspaceId), workspaceId, id),
        () => `conversation ${id} is resumed: its agent answers the next message`,
      );
    },
  },
};
