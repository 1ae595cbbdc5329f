import { fault } from '../../core/errors.ts';
import type { Handler } from '../handler.ts';

export const getNativeMcpTrigger: Handler<'getNativeMcpTrigger'> = async ({ path, runtime, reply }) => {
  const trigger = await runtime.toolkits.trigger(path.triggerSlug);
  if (!trigger) throw fault('TRIGGER_NOT_FOUND');
  const { slug, name, description, toolkit, configSchema } = trigger;
  return reply(200, { slug, name, description, toolkit, configSchema });
};
