import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { findVersion } from '../../db/queries/agents/agentVersions.ts';
import type { Handler } from '../handler.ts';
import { versionBody } from './versionBody.ts';

export const getVersion: Handler<'getVersion'> = async ({ path, db, workspaceId, reply }) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const version = await findVersion(db, workspaceId, path.agentPublicId, path.versionNumber);
  if (!version) throw fault('VERSION_NOT_FOUND');
  return reply(200, versionBody(version));
};
