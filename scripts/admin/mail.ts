import { mailQueued } from '../../db/events.ts';
import { findMailAnywhere, type MailRow, selectMailsAnywhere, updateMailQueued } from '../../db/queries/mails/mails.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Command, CommandError, optionalUuid, table, uuid } from './command.ts';
import { printable } from './printable.ts';

/** Mails that `list` prints, the newest first. */
const MAX_LISTED = 200;

// Never the content: it holds links to sign in.
function shown(row: MailRow) {
  return {
    mailId: row.id,
    workspacePublicId: row.workspace_id,
    kind: row.kind,
    recipient: row.recipient,
    status: row.status,
    attempts: row.attempts,
    dueAt: row.status === 'queued' ? row.due_at : null,
    errorMessage: row.error_message,
    createdAt: row.created_at,
    settledAt: row.settled_at,
  };
}

/** Mails to the users of clients, of all workspaces. A running service sends a mail that is tried again, otherwise the next service to start does. */
export const mailCommands: Record<string, Command> = {
  list: {
    usage: '[--workspace ID] [--failed]',
    words: 0,
    options: { workspace: { type: 'string' }, failed: { type: 'boolean' } },
    prepare(_words, options) {
      const workspaceId = optionalUuid(options.workspace, '--workspace');
      const status = options.failed ? 'failed' : undefined;
      return async ({ system }) => {
        const rows = await selectMailsAnywhere(system, { workspaceId, status, limit: MAX_LISTED });
        return {
          json: rows.map(shown),
          text: table(
            ['MAIL', 'STORED', 'KIND', 'STATUS', 'ATTEMPTS', 'TO', 'ERROR'],
            rows.map((row) => [
              row.id,
              row.created_at.toISOString(),
              row.kind,
              row.status,
              String(row.attempts),
              printable(row.recipient),
              printable(row.error_message ?? ''),
            ]),
          ),
        };
      };
    },
  },
  retry: {
    usage: 'ID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'ID');
      return async (database) => {
        const row = await findMailAnywhere(database.system, id);
        if (!row) throw new CommandError(`There is no mail ${id}`);
        const queued = await inTransaction(database.forWorkspace(row.workspace_id), async (db) => {
          const done = await updateMailQueued(db, row, new Date());
          if (done) await mailQueued.notify(db, { workspaceId: row.workspace_id, mailId: id });
          return done;
        });
        if (!queued) throw new CommandError(`Mail ${id} has not failed: it is ${row.status}`);
        return { json: { mailId: id, status: 'queued' }, text: `mail ${id} is sent again` };
      };
    },
  },
};
