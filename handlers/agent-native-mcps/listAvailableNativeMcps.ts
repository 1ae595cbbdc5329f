import { listActiveConnections } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';
import { connectionBody } from './connectionBody.ts';

export const listAvailableNativeMcps: Handler<'listAvailableNativeMcps'> = async (context) => {
  const connections = await listActiveConnections(context, context.path.agentPublicId);
  return context.reply(200, { connections: connections.map(connectionBody) });
};
