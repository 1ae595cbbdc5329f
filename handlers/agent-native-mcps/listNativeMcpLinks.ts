import { listLinkedConnections } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';
import { connectionBody } from './connectionBody.ts';

export const listNativeMcpLinks: Handler<'listNativeMcpLinks'> = async (context) => {
  const connections = await listLinkedConnections(context, context.path.agentPublicId);
  return context.reply(200, { connections: connections.map(connectionBody) });
};
