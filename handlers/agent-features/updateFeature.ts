import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import { changeConfig } from '../../domain/agents/config/changeConfig.ts';
import { featureChange } from '../../domain/agents/config/featureChange.ts';
import { findFeature, placeIn } from '../../domain/agents/config/features.ts';
import type { Handler } from '../handler.ts';
import { featureBody } from './featureBody.ts';

/** Change a feature of an agent. Throws AGENT_NOT_FOUND, FEATURE_NOT_FOUND, FEATURE_VALIDATION_ERROR. */
export const updateFeature: Handler<'updateFeature'> = async (context) => {
  const { path, body, db, workspaceId, runtime, reply } = context;
  if (!(await findAgent(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const feature = findFeature(path.featureKey);
  const agent = await changeConfig(context, path.agentPublicId, (present) => featureChange(feature, body, present), {
    placeOf: placeIn(feature),
  });
  return reply(200, featureBody(feature, agent, runtime));
};
