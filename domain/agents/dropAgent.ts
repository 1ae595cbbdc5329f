import { fault } from '../../core/errors.ts';
import { removeLinksOf } from '../../db/queries/agents/agentLinks.ts';
import { softDeleteAgent } from '../../db/queries/agents/agents.ts';
import { type AutomationRow, softDeleteAutomationsOf } from '../../db/queries/automations/automations.ts';
import { softDeleteConnectionsOfAgent } from '../../db/queries/channels/connections.ts';
import { forgetAgent } from '../../db/queries/conversations/memories.ts';
import type { DraftContext } from './draft/draft.ts';
import { deleteTarget } from './links/links.ts';

/**
 * Deletes an agent with its links, its memories, its channels, and its place as a sub-agent of others.
 * Throws AGENT_NOT_FOUND. Returns its automations: those of a toolkit registry have triggers there.
 */
export async function dropAgent(context: DraftContext, agentId: string): Promise<AutomationRow[]> {
  const { workspaceId } = context;
  let automations: AutomationRow[] = [];
  const deleted = await deleteTarget(context, 'sub_agent', agentId, async ({ trx, now }) => {
    // First: this waits for a link that is being made, so that the link is found below.
    if (!(await softDeleteAgent(trx, workspaceId, agentId, now))) return false;
    await removeLinksOf(trx, workspaceId, agentId);
    await forgetAgent(trx, workspaceId, agentId);
    automations = await softDeleteAutomationsOf(trx, workspaceId, agentId, now);
    await softDeleteConnectionsOfAgent(trx, workspaceId, agentId, now);
    return true;
  });
  if (!deleted) throw fault('AGENT_NOT_FOUND');
  return automations;
}
