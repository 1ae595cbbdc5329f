import type { LinkSettings } from '../../db/queries/agents/agentLinks.ts';
import { changeLink } from '../../domain/agents/links/links.ts';
import { externalMcpLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

export const updateExternalMcpLink: Handler<'updateExternalMcpLink'> = async (context) => {
  const { path, body, reply } = context;
  const settings: LinkSettings = {};
  if (body.active !== undefined) settings.active = body.active ?? true;
  if (body.instanceMode !== undefined) settings.instance_mode = body.instanceMode ?? 'STATIC';
  if (body.requiresApproval !== undefined) settings.requires_approval = body.requiresApproval ?? false;
  const serverId = path.externalMcpPublicId;
  const link = await changeLink(context, path.agentPublicId, 'external_mcp', serverId, async () => settings);
  return reply(200, externalMcpLinkBody(link));
};
