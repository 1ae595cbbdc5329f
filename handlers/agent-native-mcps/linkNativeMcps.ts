import { addConnections } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';

export const linkNativeMcps: Handler<'linkNativeMcps'> = async (context) => {
  const { path, body, reply } = context;
  const submitted = body.connectionPublicIds;
  const linked = await addConnections(context, path.agentPublicId, submitted);
  const skipped = submitted.filter((id) => !linked.has(id.toLowerCase()));
  return reply(200, {
    requested: submitted.length,
    linked: submitted.length - skipped.length,
    skipped: skipped.map((id) => ({ connectionPublicId: id, reason: 'NOT_FOUND_OR_INACTIVE' as const })),
  });
};
