import { addVariable } from '../../domain/agents/variables/variables.ts';
import type { Handler } from '../handler.ts';
import { variableBody } from './variableBody.ts';

export const createVariable: Handler<'createVariable'> = async (context) => {
  const variable = await addVariable(context, context.path.agentPublicId, context.body);
  return context.reply(201, variableBody(variable));
};
