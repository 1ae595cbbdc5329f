import { fault } from '../../core/errors.ts';
import { findChannelType } from '../../integrations/channels/types.ts';
import type { Handler } from '../handler.ts';

/** Get a channel type. Throws INVALID_CHANNEL_TYPE. */
export const getChannelType: Handler<'getChannelType'> = async ({ path, reply }) => {
  const type = findChannelType(path.channelType);
  if (!type) throw fault('INVALID_CHANNEL_TYPE');
  return reply(200, type);
};
