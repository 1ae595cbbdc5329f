import { fault } from '../../core/errors.ts';
import { softDeleteSkill } from '../../db/queries/tools/skills.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const deleteSkill: Handler<'deleteSkill'> = async (context) => {
  const { path, reply } = context;
  const id = path.skillPublicId;
  const deleted = await deleteTarget(context, 'skill', id, ({ trx, workspaceId, now }) =>
    softDeleteSkill(trx, workspaceId, id, now),
  );
  if (!deleted) throw fault('SKILL_NOT_FOUND');
  return reply(204);
};
