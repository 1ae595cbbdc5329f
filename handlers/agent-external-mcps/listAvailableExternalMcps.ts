import { listLinkableExternalMcps } from '../../db/queries/tools/externalMcps.ts';
import { draftAgent } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const listAvailableExternalMcps: Handler<'listAvailableExternalMcps'> = async (context) => {
  const { path, db, workspaceId, reply } = context;
  await draftAgent(context, path.agentPublicId, 'external_mcp');
  const rows = await listLinkableExternalMcps(db, workspaceId, path.agentPublicId);
  return reply(
    200,
    rows.map(({ id, name, description, url, status }) => ({ publicId: id, name, description, url, status })),
  );
};
