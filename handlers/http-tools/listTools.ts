import { selectHttpTools } from '../../db/queries/tools/httpTools.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { toolBody } from './toolBody.ts';

/** List tools. */
export const listTools: Handler<'listTools'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { rows, total } = await selectHttpTools(db, workspaceId, query, window);
  return reply(200, pageOf(rows.map(toolBody), total, window));
};
