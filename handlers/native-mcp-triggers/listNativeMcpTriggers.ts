import { fault } from '../../core/errors.ts';
import type { Handler } from '../handler.ts';

export const listNativeMcpTriggers: Handler<'listNativeMcpTriggers'> = async ({ query, runtime, reply }) => {
  const triggers = await runtime.toolkits.triggers(query.toolkit);
  if (!triggers) throw fault('UNKNOWN_TOOLKIT');
  const items = triggers.map(({ slug, name, description, toolkit }) => ({ slug, name, description, toolkit }));
  return reply(200, { toolkit: query.toolkit, items });
};
