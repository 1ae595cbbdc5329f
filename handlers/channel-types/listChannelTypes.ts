import { CHANNEL_TYPES } from '../../integrations/channels/types.ts';
import type { Handler } from '../handler.ts';

/** List channel types. */
export const listChannelTypes: Handler<'listChannelTypes'> = async ({ reply }) => reply(200, [...CHANNEL_TYPES]);
