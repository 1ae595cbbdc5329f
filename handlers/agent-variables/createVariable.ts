import { newId } from '../../core/ids.ts';
import { insertVariable } from '../../db/queries/agents/agentVariables.ts';
import { changeDraft } from '../../domain/agents/draft.ts';
import { variableBody } from '../../domain/agents/variableBody.ts';
import { checkedColumns, newOptions } from '../../domain/agents/variableDefinition.ts';
import type { Handler } from '../handler.ts';

export const createVariable: Handler<'createVariable'> = async (context) => {
  const { path, body, workspaceId, reply } = context;
  const definition = {
    ...body,
    description: body.description ?? null,
    defaultValue: body.defaultValue ?? null,
    options: newOptions(body.options ?? []),
    multiChoiceSeparator: body.multiChoiceSeparator ?? null,
    booleanTextWhenTrue: body.booleanTextWhenTrue ?? null,
    booleanTextWhenFalse: body.booleanTextWhenFalse ?? null,
  };
  // A name that is taken violates agent_variables_name_key, which is VARIABLE_NAME_TAKEN (db/errors.ts).
  const variable = await changeDraft(context, path.agentPublicId, ({ trx, agent, now }) =>
    insertVariable(trx, {
      workspace_id: workspaceId,
      id: newId(),
      agent_id: agent.id,
      ...checkedColumns(definition),
      created_at: now,
      updated_at: now,
    }),
  );
  return reply(201, variableBody(variable));
};
