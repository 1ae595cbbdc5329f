import { restoreDraft } from '../../domain/agents/versions/restoreDraft.ts';
import { agentBody } from '../agents/agentBody.ts';
import type { Handler } from '../handler.ts';

export const restoreVersion: Handler<'restoreVersion'> = async (context) => {
  const { path, runtime, reply } = context;
  const agent = await restoreDraft(context, path.agentPublicId, path.versionNumber);
  return reply(200, agentBody(agent, runtime));
};
