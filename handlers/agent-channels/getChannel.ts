import { findConnectionOfAgent } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';
import { channelBody } from './channelBody.ts';

/** Get an agent's channel. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND. */
export const getChannel: Handler<'getChannel'> = async (context) => {
  const { agentPublicId, channelConnectionPublicId } = context.path;
  const id = channelConnectionPublicId.toLowerCase();
  const row = await findConnectionOfAgent(context, agentPublicId, (each) => each.id === id);
  return context.reply(200, channelBody(row));
};
