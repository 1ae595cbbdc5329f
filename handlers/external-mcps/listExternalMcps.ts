import { selectExternalMcps } from '../../db/queries/tools/externalMcps.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { externalMcpBody } from './externalMcpBody.ts';

/** List servers. */
export const listExternalMcps: Handler<'listExternalMcps'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { status, search } = query;
  const { rows, total } = await selectExternalMcps(db, workspaceId, { status, search }, window);
  return reply(200, pageOf(rows.map(externalMcpBody), total, window));
};
