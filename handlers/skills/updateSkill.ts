import { fault } from '../../core/errors.ts';
import { findSkill, updateSkillRow } from '../../db/queries/tools/skills.ts';
import type { Handler } from '../handler.ts';
import { skillBody } from './skillBody.ts';

export const updateSkill: Handler<'updateSkill'> = async ({ path, body, db, workspaceId, clock, reply }) => {
  const id = path.skillPublicId;
  // A name that is taken violates skills_name_key, which is SKILL_NAME_TAKEN (db/errors.ts).
  if (Object.keys(body).length > 0) await updateSkillRow(db, workspaceId, id, { ...body, updated_at: clock.now() });
  const row = await findSkill(db, workspaceId, id);
  if (!row) throw fault('SKILL_NOT_FOUND');
  return reply(200, skillBody(row));
};
