import { listLinkableTools } from '../../db/queries/tools/httpTools.ts';
import { draftAgent } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** List the tools that can be linked to an agent. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listAvailableTools: Handler<'listAvailableTools'> = async (context) => {
  const { path, query, db, workspaceId, reply } = context;
  const agent = await draftAgent(context, path.agentPublicId, 'http_tool');
  const tools = await listLinkableTools(db, workspaceId, agent.id, query);
  const shown = tools.map(({ id, name, description, tool_type }) => ({
    publicId: id,
    name,
    description,
    toolType: tool_type,
  }));
  return reply(200, shown);
};
