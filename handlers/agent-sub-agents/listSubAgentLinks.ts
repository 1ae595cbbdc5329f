import { inSortOrder, subAgentLinkBody } from '../../domain/agents/linkSets.ts';
import { listLinks } from '../../domain/agents/links.ts';
import type { Handler } from '../handler.ts';

/** List an agent's sub-agents. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listSubAgentLinks: Handler<'listSubAgentLinks'> = async (context) => {
  const { path, runtime, reply } = context;
  const links = await listLinks(context, path.agentPublicId, 'sub_agent');
  const inOrder = inSortOrder(links.reverse());
  return reply(
    200,
    inOrder.map((link) => subAgentLinkBody(link, runtime)),
  );
};
