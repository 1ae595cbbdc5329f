import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { atEnd, inTransaction } from '../../transaction.ts';

/**
 * Runs a write of something that turns keep in memory (a tool, a server, a connection, a skill, a model, an agent), and raises the
 * workspace's revision with it: turns that begin after the commit read it anew. The revision is raised as the last thing of the
 * transaction, so that its row is locked last and for a moment, and takes part in no deadlock. A write that returns undefined or false has
 * found nothing to change, and raises nothing.
 */
export function revising<Result>(
  db: Kysely<DB>,
  workspaceId: string,
  write: (db: Kysely<DB>) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (transaction) => {
    const result = await write(transaction);
    if (result !== undefined && result !== false)
      atEnd(transaction, `revision of ${workspaceId}`, () => raiseRevision(transaction, workspaceId));
    return result;
  });
}

async function raiseRevision(db: Kysely<DB>, workspaceId: string): Promise<void> {
  await raisingRevision(workspaceId).execute(db);
}

/**
 * SQL: raises the workspace's revision where `condition` is true. For a write of one statement, which it can be a part of; else there is
 * `revising`.
 */
export function raisingRevision(workspaceId: string, condition: RawBuilder<unknown> = sql`true`): RawBuilder<object> {
  return sql<object>`
    insert into workspace_revisions (workspace_id) select ${workspaceId}::uuid where ${condition}
    on conflict (workspace_id) do update set revision = workspace_revisions.revision + 1`;
}
