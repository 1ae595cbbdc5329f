import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import { FEATURES } from '../../domain/agents/config/features.ts';
import type { Handler } from '../handler.ts';
import { featureBody } from './featureBody.ts';

/** List the features of an agent. Throws AGENT_NOT_FOUND. */
export const listFeatures: Handler<'listFeatures'> = async ({ path, db, workspaceId, runtime, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return reply(
    200,
    FEATURES.map((feature) => featureBody(feature, agent, runtime)),
  );
};
