import { automationHook } from './automations.ts';
import { channelHandshake, channelWebhook } from './channels.ts';
import type { Hook } from './hook.ts';
import { paymentsHook } from './payments.ts';
import { composioHook } from './toolkits.ts';

/** Every hook. */
export const everyHook: readonly Hook[] = [
  automationHook,
  composioHook,
  channelHandshake,
  channelWebhook,
  paymentsHook,
];
