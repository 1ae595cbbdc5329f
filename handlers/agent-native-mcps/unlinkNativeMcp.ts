import { unlinkTarget } from '../../domain/agents/links/links.ts';
import { askAboutLink } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';

export const unlinkNativeMcp: Handler<'unlinkNativeMcp'> = async (context) => {
  const { path, reply } = context;
  const connectionId = path.connectionPublicId.toLowerCase();
  await askAboutLink(context, path.agentPublicId, connectionId);
  await unlinkTarget(context, path.agentPublicId, 'native_mcp', connectionId);
  return reply(204);
};
