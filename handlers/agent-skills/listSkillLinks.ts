import { listLinks } from '../../domain/agents/links/links.ts';
import { skillLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

export const listSkillLinks: Handler<'listSkillLinks'> = async (context) => {
  const { path, reply } = context;
  const links = await listLinks(context, path.agentPublicId, 'skill');
  return reply(200, links.map(skillLinkBody));
};
