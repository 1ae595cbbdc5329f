import { automationHook } from './automations.ts';
import { channelHandshake, channelWebhook } from './channels.ts';
import type { Hook } from './hook.ts';

/** Every hook. */
export const everyHook: readonly Hook[] = [automationHook, channelHandshake, channelWebhook];
