import { fault } from '../../../core/errors.ts';
import type { LinkedRow } from '../../../db/queries/agents/agentLinks.ts';
import { findPlaceAtEnd, wouldCloseCycle } from '../../../db/queries/agents/subAgents.ts';
import type { ConfigContext } from '../config/changeConfig.ts';
import { inSortOrder } from '../draft/storedLinks.ts';
import { linkTarget, listLinks } from './links.ts';

/** How an agent uses a sub-agent. */
export interface SubAgentSettings {
  /** null = the sub-agent's own. */
  description: string | null;
  /** The model that the sub-agent runs on for this agent; null = its own. */
  aiModelId: string | null;
  /** Its place in the list; undefined = behind the others. */
  sortOrder: number | undefined;
}

/**
 * Links a sub-agent. Throws AGENT_NOT_FOUND, SUB_AGENT_NOT_FOUND, AI_MODEL_NOT_FOUND, ALREADY_LINKED, NO_DRAFT_VERSION,
 * SUB_AGENT_CYCLE.
 */
export function addSubAgent(
  context: ConfigContext,
  agentId: string,
  subAgentId: string,
  { description, aiModelId, sortOrder }: SubAgentSettings,
): Promise<LinkedRow> {
  const { workspaceId, runtime } = context;
  return linkTarget(context, agentId, 'sub_agent', subAgentId, async ({ trx, agent }) => {
    if (await wouldCloseCycle(trx, workspaceId, agent.id, subAgentId)) throw fault('SUB_AGENT_CYCLE');
    if (aiModelId !== null && !(await runtime.findModel(trx, workspaceId, aiModelId)))
      throw fault('AI_MODEL_NOT_FOUND');
    const place = sortOrder ?? (await findPlaceAtEnd(trx, workspaceId, agent.id));
    return { description, ai_model_id: aiModelId, sort_order: place };
  });
}

/** The sub-agents of an agent by their place in the list. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export async function listSubAgents(context: Parameters<typeof listLinks>[0], agentId: string): Promise<LinkedRow[]> {
  const links = await listLinks(context, agentId, 'sub_agent');
  return inSortOrder(links.reverse());
}
