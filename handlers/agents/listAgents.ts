import { selectAgents } from '../../db/queries/agents/agents.ts';
import type { components } from '../../generated/api.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';

type Item = components['schemas']['AgentListItem'];

export const listAgents: Handler<'listAgents'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { status, search, categories, includeArchived = false } = query;
  const { rows, total } = await selectAgents(db, workspaceId, { status, search, categories, includeArchived }, window);
  const items = rows.map(
    (row): Item => ({
      publicId: row.id,
      name: row.name,
      avatarUrl: row.avatar_url,
      status: row.status,
      draftVersionNumber: row.draft_version_number,
      publishedVersionNumber: row.published_version_number,
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
    }),
  );
  return reply(200, pageOf(items, total, window));
};
