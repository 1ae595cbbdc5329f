import { fault } from '../../core/errors.ts';
import { removeLinksOf } from '../../db/queries/agents/agentLinks.ts';
import { softDeleteAgent } from '../../db/queries/agents/agents.ts';
import { forgetAgent } from '../../db/queries/conversations/memories.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const deleteAgent: Handler<'deleteAgent'> = async (context) => {
  const { path, workspaceId, reply } = context;
  const deleted = await deleteTarget(context, 'sub_agent', path.agentPublicId, async ({ trx, now }) => {
    // First: it waits for a link that is being made, which is then found.
    if (!(await softDeleteAgent(trx, workspaceId, path.agentPublicId, now))) return false;
    await removeLinksOf(trx, workspaceId, path.agentPublicId);
    await forgetAgent(trx, workspaceId, path.agentPublicId);
    return true;
  });
  if (!deleted) throw fault('AGENT_NOT_FOUND');
  return reply(204);
};
