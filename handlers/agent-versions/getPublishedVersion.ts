import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import { findVersion } from '../../db/queries/agents/agentVersions.ts';
import type { Handler } from '../handler.ts';
import { versionBody } from './versionBody.ts';

export const getPublishedVersion: Handler<'getPublishedVersion'> = async ({ path, db, workspaceId, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  const number = agent.published_version_number;
  const version = number === null ? undefined : await findVersion(db, workspaceId, agent.id, number);
  if (!version) throw fault('VERSION_NOT_FOUND', 'The agent has not been published yet.');
  return reply(200, versionBody(version));
};
