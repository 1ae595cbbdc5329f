import type { LinkSettings } from '../../db/queries/agents/agentLinks.ts';
import { findHttpTool } from '../../db/queries/tools/httpTools.ts';
import { changeLink } from '../../domain/agents/links/links.ts';
import { toolLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** Change how an agent uses a tool. Throws AGENT_NOT_FOUND, NOT_LINKED, NO_DRAFT_VERSION. */
export const updateToolLink: Handler<'updateToolLink'> = async (context) => {
  const { path, body, workspaceId, reply } = context;
  const { agentPublicId, httpToolPublicId } = path;
  const { active, requiresApproval } = body;
  const link = await changeLink(context, agentPublicId, 'http_tool', httpToolPublicId, async ({ trx }) => {
    const settings: LinkSettings = {};
    if (active !== undefined) settings.active = active ?? true;
    if (requiresApproval === null) {
      const tool = await findHttpTool(trx, workspaceId, httpToolPublicId);
      settings.requires_approval = tool?.requires_approval ?? false;
    } else if (requiresApproval !== undefined) settings.requires_approval = requiresApproval;
    return settings;
  });
  return reply(200, toolLinkBody(link));
};
