import { listLinkableKnowledgeSources } from '../../db/queries/knowledge/knowledgeSources.ts';
import { draftAgent } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** List the knowledge sources that can be linked to an agent. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listAvailableKnowledgeSources: Handler<'listAvailableKnowledgeSources'> = async (context) => {
  const { path, db, workspaceId, reply } = context;
  await draftAgent(context, path.agentPublicId, 'knowledge_source');
  const rows = await listLinkableKnowledgeSources(db, workspaceId, path.agentPublicId);
  return reply(
    200,
    rows.map(({ id, name, description }) => ({ publicId: id, name, description })),
  );
};
