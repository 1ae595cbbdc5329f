import { findConnectionOfAgent } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';
import { channelBody } from './channelBody.ts';

/** Get an agent's channel by its type. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND. */
export const getChannelByType: Handler<'getChannelByType'> = async (context) => {
  const { agentPublicId, channelType } = context.path;
  const row = await findConnectionOfAgent(context, agentPublicId, (each) => each.channel_type === channelType);
  return context.reply(200, channelBody(row));
};
