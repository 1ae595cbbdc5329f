import { fault } from '../../core/errors.ts';
import { updateAgentRow } from '../../db/queries/agents/agents.ts';
import { findVariable, removeVariable } from '../../db/queries/agents/agentVariables.ts';
import { forgetVariableValues } from '../../db/queries/conversations/conversations.ts';
import { changeDraft } from '../../domain/agents/draft.ts';
import { removeReferences } from '../../runtime/variables/variables.ts';
import type { Handler } from '../handler.ts';

export const deleteVariable: Handler<'deleteVariable'> = async (context) => {
  const { path, query, workspaceId, reply } = context;
  await changeDraft(context, path.agentPublicId, async ({ trx, agent }) => {
    const variable = await findVariable(trx, workspaceId, agent.id, path.variablePublicId);
    if (!variable) throw fault('VARIABLE_NOT_FOUND');
    if (query.mode === 'purge') {
      if (query.confirmation !== 'DELETE') {
        throw fault('CONFIRMATION_REQUIRED', 'Purging a variable cannot be undone. Send confirmation=DELETE to do it.');
      }
      await removeVariable(trx, workspaceId, variable.id);
      await forgetVariableValues(trx, workspaceId, agent.id, variable.name);
    } else if (agent.system_prompt !== null) {
      const prompt = removeReferences(agent.system_prompt, variable.name);
      await updateAgentRow(trx, workspaceId, agent.id, { system_prompt: prompt });
    }
  });
  return reply(204);
};
