import { findConnectionAnywhere } from '../../db/queries/channels/connections.ts';
import type { InboundRow } from '../../db/queries/channels/inboundMessages.ts';
import { findInboundAnywhere, selectFailedInbound, updateReplayed } from '../../db/queries/channels/replay.ts';
import { type Command, CommandError, number, table, UsageError, uuid } from './command.ts';
import { printable, shortJson } from './printable.ts';

const LIMIT = { min: 1, max: 1000, integer: true };
const DEFAULT_LIMIT = 50;
/** Characters of a message in the table. */
const SHOWN = 80;

/** A time as ISO 8601 writes it, or undefined when the option is absent. */
function time(value: unknown, name: string): Date | undefined {
  if (value === undefined) return undefined;
  const parsed = new Date(String(value));
  if (Number.isNaN(parsed.getTime()) || !/^\d{4}-\d{2}-\d{2}/.test(String(value)))
    throw new UsageError(`${name} must be a time such as 2026-11-22T08:00:00Z`);
  return parsed;
}

function textOf({ event }: InboundRow): string {
  const { text, note } = event as { text?: string; note?: string };
  return shortJson(text ?? note ?? '', SHOWN);
}

/** What people sent and the agent could not answer. */
export const replayCommands: Record<string, Command> = {
  failed: {
    usage: 'CONNECTION [--limit N]   (messages of people that were not answered)',
    words: 1,
    options: { limit: { type: 'string' } },
    prepare([word], options) {
      const id = uuid(word, 'CONNECTION');
      const limit = number(options.limit, '--limit', LIMIT) ?? DEFAULT_LIMIT;
      return async (database) => {
        const connection = await findConnectionAnywhere(database.system, id);
        if (!connection) throw new CommandError(`There is no channel connection ${id}`);
        const { workspace_id: workspaceId } = connection;
        const rows = await selectFailedInbound(database.forWorkspace(workspaceId), workspaceId, id, limit);
        return {
          json: rows.map((row) => ({
            messagePublicId: row.id,
            conversationPublicId: row.conversation_id,
            receivedAt: row.received_at,
            error: { code: row.error_code, message: row.error_message },
            event: row.event,
          })),
          text: table(
            ['MESSAGE', 'RECEIVED', 'ERROR', 'TEXT'],
            rows.map((row) => [row.id, row.received_at.toISOString(), printable(row.error_code ?? ''), textOf(row)]),
          ),
        };
      };
    },
  },
  replay: {
    usage:
      'CONNECTION|MESSAGE [--since TIME]   (works failed messages again; a running service begins within half a minute)',
    words: 1,
    options: { since: { type: 'string' } },
    prepare([word], options) {
      const id = uuid(word, 'CONNECTION or MESSAGE');
      const since = time(options.since, '--since') ?? null;
      return async (database) => {
        const connection = await findConnectionAnywhere(database.system, id);
        const message = connection ? undefined : await findInboundAnywhere(database.system, id);
        const workspaceId = connection?.workspace_id ?? message?.workspace_id;
        if (workspaceId === undefined) throw new CommandError(`There is no channel connection and no message ${id}`);
        const chosen = message ? { id: message.id } : { connectionId: id, since };
        const db = database.forWorkspace(workspaceId);
        const { replayed, leftOut } = await updateReplayed(db, workspaceId, chosen, new Date());
        if (message && replayed === 0) throw new CommandError(`Message ${id} is ${message.status}, and not failed`);
        const lines = [`${replayed} messages are worked again`];
        if (leftOut > 0)
          lines.push(
            `${leftOut} are left out: a tool had begun, and what it did is not known. Name them one by one to answer them.`,
          );
        return { json: { replayed, leftOut }, text: lines.join('\n') };
      };
    },
  },
};
