import { channelHandshake, channelWebhook } from './channels.ts';
import type { Hook } from './hook.ts';

/** Every hook. */
export const everyHook: readonly Hook[] = [channelHandshake, channelWebhook];
