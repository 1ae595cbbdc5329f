import { selectKnowledgeSources } from '../../db/queries/knowledge/knowledgeSources.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { sourceBody } from './sourceBody.ts';

/** List knowledge sources. */
export const listKnowledgeSources: Handler<'listKnowledgeSources'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { status, search } = query;
  const { rows, total } = await selectKnowledgeSources(db, workspaceId, { status, search }, window);
  return reply(200, pageOf(rows.map(sourceBody), total, window));
};
