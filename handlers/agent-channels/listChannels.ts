import { listConnections } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';
import { channelBody } from './channelBody.ts';

/** List an agent's channels. Throws AGENT_NOT_FOUND. */
export const listChannels: Handler<'listChannels'> = async (context) => {
  const rows = await listConnections(context, context.path.agentPublicId);
  return context.reply(200, rows.map(channelBody));
};
