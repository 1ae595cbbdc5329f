import { findConnections } from '../../db/queries/tools/nativeConnections.ts';
import { linkTargets, listLinks } from '../../domain/agents/links/links.ts';
import { ACTIVE } from '../../integrations/toolkits/toolkits.ts';
import type { Handler } from '../handler.ts';

export const linkNativeMcps: Handler<'linkNativeMcps'> = async (context) => {
  const { path, body, db, workspaceId, runtime, reply } = context;
  const submitted = body.connectionPublicIds;
  const links = await listLinks(context, path.agentPublicId, 'native_mcp');
  const linked = new Set(links.map(({ target_id }) => target_id));
  const fresh = [...new Set(submitted.map((id) => id.toLowerCase()))].filter((id) => !linked.has(id));
  const rows = await findConnections(db, workspaceId, fresh);
  // Before the transaction: the registry may take its time.
  const states = await runtime.toolkits.states(rows);
  const active = fresh.filter((id) => states.get(id)?.status === ACTIVE);
  if (active.length > 0) {
    for (const id of await linkTargets(context, path.agentPublicId, 'native_mcp', active)) linked.add(id);
  }
  const skipped = submitted.filter((id) => !linked.has(id.toLowerCase()));
  return reply(200, {
    requested: submitted.length,
    linked: submitted.length - skipped.length,
    skipped: skipped.map((id) => ({ connectionPublicId: id, reason: 'NOT_FOUND_OR_INACTIVE' as const })),
  });
};
