import { detachVariable, purgeVariable } from '../../domain/agents/variables/variables.ts';
import type { Handler } from '../handler.ts';

export const deleteVariable: Handler<'deleteVariable'> = async (context) => {
  const { path, query, body, reply } = context;
  const { agentPublicId, variablePublicId } = path;
  if (query.mode === 'purge') {
    const confirmed = [query.confirmation, body?.confirmation].includes('DELETE');
    await purgeVariable(context, agentPublicId, variablePublicId, { confirmed });
  } else await detachVariable(context, agentPublicId, variablePublicId);
  return reply(204);
};
