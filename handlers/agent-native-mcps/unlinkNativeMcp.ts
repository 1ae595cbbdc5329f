import { unlinkTarget } from '../agents/links.ts';
import type { Handler } from '../handler.ts';
import { askAboutLink } from './askAboutLink.ts';

export const unlinkNativeMcp: Handler<'unlinkNativeMcp'> = async (context) => {
  const { path, reply } = context;
  const connectionId = path.connectionPublicId.toLowerCase();
  await askAboutLink(context, path.agentPublicId, connectionId);
  await unlinkTarget(context, path.agentPublicId, 'native_mcp', connectionId);
  return reply(204);
};
