import { dropConnection } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';

export const unlinkNativeMcp: Handler<'unlinkNativeMcp'> = async (context) => {
  const { agentPublicId, connectionPublicId } = context.path;
  await dropConnection(context, agentPublicId, connectionPublicId);
  return context.reply(204);
};
