import { listLinkableSkills } from '../../db/queries/tools/skills.ts';
import { draftAgent } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const listAvailableSkills: Handler<'listAvailableSkills'> = async (context) => {
  const { path, db, workspaceId, reply } = context;
  const agent = await draftAgent(context, path.agentPublicId, 'skill');
  const skills = await listLinkableSkills(db, workspaceId, agent.id);
  return reply(
    200,
    skills.map(({ id, name, description }) => ({ publicId: id, name, description })),
  );
};
