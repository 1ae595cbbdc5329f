import { findHttpTool } from '../../db/queries/tools/httpTools.ts';
import { linkTarget } from '../../domain/agents/links/links.ts';
import { toolLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** Link a tool to an agent. Throws AGENT_NOT_FOUND, HTTP_TOOL_NOT_FOUND, ALREADY_LINKED, NO_DRAFT_VERSION. */
export const linkTool: Handler<'linkTool'> = async (context) => {
  const { path, body, workspaceId, reply } = context;
  const id = body.httpToolPublicId;
  const link = await linkTarget(context, path.agentPublicId, 'http_tool', id, async ({ trx }) => {
    const tool = await findHttpTool(trx, workspaceId, id);
    return { requires_approval: tool?.requires_approval ?? false };
  });
  return reply(201, toolLinkBody(link));
};
