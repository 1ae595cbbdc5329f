import { unlinkTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const unlinkExternalMcp: Handler<'unlinkExternalMcp'> = async (context) => {
  const { path, reply } = context;
  await unlinkTarget(context, path.agentPublicId, 'external_mcp', path.externalMcpPublicId);
  return reply(204);
};
