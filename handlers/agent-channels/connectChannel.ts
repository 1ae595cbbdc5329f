import { connectAgent } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';
import { channelBody } from './channelBody.ts';

/** Connect an agent to a channel. Throws INVALID_CHANNEL_TYPE, AGENT_NOT_FOUND, CHANNEL_ALREADY_CONNECTED. */
export const connectChannel: Handler<'connectChannel'> = async (context) => {
  const { path, body, reply } = context;
  return reply(201, channelBody(await connectAgent(context, path.agentPublicId, body)));
};
