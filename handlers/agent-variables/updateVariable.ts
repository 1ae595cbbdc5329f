import { fault } from '../../core/errors.ts';
import { findVariable, updateVariableRow } from '../../db/queries/agents/agentVariables.ts';
import { changeDraft } from '../../domain/agents/draft.ts';
import { variableBody } from '../../domain/agents/variableBody.ts';
import { checkedColumns, type Definition, hasOptions, newOptions } from '../../domain/agents/variableDefinition.ts';
import type { BodyOf, Handler } from '../handler.ts';

/** The definition after the change. Options stay where the new type has some too; a type without any drops them. */
function changed(present: Definition, { options, ...change }: BodyOf<'updateVariable'>): Definition {
  const next = { ...present, ...change };
  const kept = hasOptions(next.type) ? present.options : null;
  return { ...next, options: options ? newOptions(options) : kept };
}

export const updateVariable: Handler<'updateVariable'> = async (context) => {
  const { path, body, workspaceId, reply } = context;
  // A name that is taken violates agent_variables_name_key, which is VARIABLE_NAME_TAKEN (db/errors.ts).
  const variable = await changeDraft(context, path.agentPublicId, async ({ trx, agent, now }) => {
    const present = await findVariable(trx, workspaceId, agent.id, path.variablePublicId);
    if (!present) throw fault('VARIABLE_NOT_FOUND');
    const columns = checkedColumns(changed(variableBody(present), body));
    return updateVariableRow(trx, workspaceId, present.id, { ...columns, updated_at: now });
  });
  return reply(200, variableBody(variable));
};
