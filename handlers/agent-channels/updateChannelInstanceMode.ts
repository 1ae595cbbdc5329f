import { changeChannelMode } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';
import { channelBody } from './channelBody.ts';

/** Change the instance mode of a channel. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND, CONFIRMATION_REQUIRED. */
export const updateChannelInstanceMode: Handler<'updateChannelInstanceMode'> = async (context) => {
  const { path, body, reply } = context;
  return reply(
    200,
    channelBody(await changeChannelMode(context, path.agentPublicId, path.channelConnectionPublicId, body)),
  );
};
