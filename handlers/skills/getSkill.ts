import { fault } from '../../core/errors.ts';
import { findSkill } from '../../db/queries/tools/skills.ts';
import type { Handler } from '../handler.ts';
import { skillBody } from './skillBody.ts';

export const getSkill: Handler<'getSkill'> = async ({ path, db, workspaceId, reply }) => {
  const row = await findSkill(db, workspaceId, path.skillPublicId);
  if (!row) throw fault('SKILL_NOT_FOUND');
  return reply(200, skillBody(row));
};
