import { listSubAgents } from '../../domain/agents/links/subAgentLinks.ts';
import { subAgentLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** List an agent's sub-agents. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listSubAgentLinks: Handler<'listSubAgentLinks'> = async (context) => {
  const { path, runtime, reply } = context;
  const links = await listSubAgents(context, path.agentPublicId);
  return reply(
    200,
    links.map((link) => subAgentLinkBody(link, runtime)),
  );
};
