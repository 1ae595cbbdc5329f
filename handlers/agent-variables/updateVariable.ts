import { changeVariable } from '../../domain/agents/variables/variables.ts';
import type { Handler } from '../handler.ts';
import { variableBody } from './variableBody.ts';

export const updateVariable: Handler<'updateVariable'> = async (context) => {
  const { path, body, reply } = context;
  const variable = await changeVariable(context, path.agentPublicId, path.variablePublicId, body);
  return reply(200, variableBody(variable));
};
