import type { Kysely } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { findAgent, findWorkspaceOfAgent } from '../../db/queries/agents/agents.ts';
import type { DB } from '../../generated/db.ts';
import { CommandError } from './command.ts';

/** An agent that a command names, and where its rows are. */
export interface NamedAgent {
  workspaceId: string;
  db: Kysely<DB>;
  agent: NonNullable<Awaited<ReturnType<typeof findAgent>>>;
}

/** The agent with this id, in the given workspace or, if none is given, in its own. Throws CommandError when there is none. */
export async function findNamedAgent(database: Database, id: string, given: string | undefined): Promise<NamedAgent> {
  const workspaceId = given ?? (await findWorkspaceOfAgent(database.system, id));
  if (workspaceId === undefined) throw new CommandError(`There is no agent ${id}`);
  const db = database.forWorkspace(workspaceId);
  const agent = await findAgent(db, workspaceId, id);
  if (!agent) throw new CommandError(`Workspace ${workspaceId} has no agent ${id}`);
  return { workspaceId, db, agent };
}
