import { unlinkTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const unlinkSkill: Handler<'unlinkSkill'> = async (context) => {
  const { path, reply } = context;
  await unlinkTarget(context, path.agentPublicId, 'skill', path.skillPublicId);
  return reply(204);
};
