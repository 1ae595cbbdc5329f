import { configureConnection } from '../../domain/channels/connections.ts';
import type { Handler } from '../handler.ts';
import { channelBody } from './channelBody.ts';

/**
 * Configure a channel. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND, CHANNEL_CONFIG_NOT_ALLOWED_VIA_API, INVALID_CHANNEL_CONFIG,
 * INVALID_CHANNEL_CREDENTIALS, ZAPI_INSTANCE_ID_ALREADY_USED.
 */
export const configureChannel: Handler<'configureChannel'> = async (context) => {
  const { path, body, reply } = context;
  return reply(
    200,
    channelBody(await configureConnection(context, path.agentPublicId, path.channelConnectionPublicId, body)),
  );
};
