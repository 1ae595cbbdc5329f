import { disconnectAgent } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';

/** Disconnect an agent from a channel. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND. */
export const deleteChannel: Handler<'deleteChannel'> = async (context) => {
  const { agentPublicId, channelConnectionPublicId } = context.path;
  await disconnectAgent(context, agentPublicId, channelConnectionPublicId);
  return context.reply(204);
};
