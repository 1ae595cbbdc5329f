import { fault } from '../../core/errors.ts';
import { findExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

/** Get a server. Throws EXTERNAL_MCP_NOT_FOUND. */
export const getExternalMcp: Handler<'getExternalMcp'> = async ({ path, db, workspaceId, reply }) => {
  const row = await findExternalMcp(db, workspaceId, path.externalMcpPublicId);
  if (!row) throw fault('EXTERNAL_MCP_NOT_FOUND');
  return reply(200, externalMcpBody(row));
};
