import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import { findFeature } from '../../domain/agents/config/features.ts';
import type { Handler } from '../handler.ts';
import { featureBody } from './featureBody.ts';

/** Get a feature of an agent. Throws AGENT_NOT_FOUND, FEATURE_NOT_FOUND. */
export const getFeature: Handler<'getFeature'> = async ({ path, db, workspaceId, runtime, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return reply(200, featureBody(findFeature(path.featureKey), agent, runtime));
};
