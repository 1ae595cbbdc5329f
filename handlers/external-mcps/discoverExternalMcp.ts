import { fault } from '../../core/errors.ts';
import { beginDiscovery } from '../../db/queries/tools/externalMcps.ts';
import { discover } from '../../domain/externalMcps/discovery.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

export const discoverExternalMcp: Handler<'discoverExternalMcp'> = async (context) => {
  const { path, db, workspaceId, reply } = context;
  const row = await beginDiscovery(db, workspaceId, path.externalMcpPublicId);
  const settled = row && (await discover(context, row));
  if (!settled) throw fault('EXTERNAL_MCP_NOT_FOUND');
  return reply(200, externalMcpBody(settled));
};
