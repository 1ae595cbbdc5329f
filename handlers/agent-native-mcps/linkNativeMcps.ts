import { addConnections, findLinkableConnections } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';

export const linkNativeMcps: Handler<'linkNativeMcps'> = {
  async prepare(context) {
    const { agentPublicId } = context.path;
    const submitted = context.body.connectionPublicIds;
    const linkable = await findLinkableConnections(context, agentPublicId, submitted);
    return async (linking) => {
      const linked = await addConnections(linking, agentPublicId, linkable);
      const skipped = submitted.filter((id) => !linked.has(id.toLowerCase()));
      return linking.reply(200, {
        requested: submitted.length,
        linked: submitted.length - skipped.length,
        skipped: skipped.map((id) => ({ connectionPublicId: id, reason: 'NOT_FOUND_OR_INACTIVE' as const })),
      });
    };
  },
};
