import { selectSkills } from '../../db/queries/tools/skills.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { skillBody } from './skillBody.ts';

export const listSkills: Handler<'listSkills'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { rows, total } = await selectSkills(db, workspaceId, { search: query.search }, window);
  return reply(200, pageOf(rows.map(skillBody), total, window));
};
