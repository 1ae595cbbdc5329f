import { detachVariable, purgeVariable } from '../../domain/agents/variables/variables.ts';
import type { Handler } from '../handler.ts';

export const deleteVariable: Handler<'deleteVariable'> = async (context) => {
  const { path, query, reply } = context;
  const { agentPublicId, variablePublicId } = path;
  if (query.mode === 'purge') {
    await purgeVariable(context, agentPublicId, variablePublicId, { confirmed: query.confirmation === 'DELETE' });
  } else await detachVariable(context, agentPublicId, variablePublicId);
  return reply(204);
};
