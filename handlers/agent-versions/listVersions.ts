import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { selectVersions } from '../../db/queries/agents/agentVersions.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';

export const listVersions: Handler<'listVersions'> = async ({ path, query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const { rows, total } = await selectVersions(db, workspaceId, path.agentPublicId, window);
  const items = rows.map((row) => ({
    versionNumber: row.version_number,
    notes: row.notes,
    createdAt: row.created_at.toISOString(),
  }));
  return reply(200, pageOf(items, total, window));
};
