import { linkTarget } from '../../domain/agents/links/links.ts';
import { skillLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

export const linkSkill: Handler<'linkSkill'> = async (context) => {
  const { path, body, reply } = context;
  const link = await linkTarget(context, path.agentPublicId, 'skill', body.skillPublicId);
  return reply(201, skillLinkBody(link));
};
