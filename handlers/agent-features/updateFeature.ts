import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import { changeConfig } from '../agents/draft.ts';
import type { Handler } from '../handler.ts';
import { featureChange } from './featureChange.ts';
import { featureBody, findFeature, placeIn } from './features.ts';

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
