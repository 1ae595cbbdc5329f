import { changeInstanceMode } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';

export const updateNativeMcpInstanceMode: Handler<'updateNativeMcpInstanceMode'> = async (context) => {
  const { path, body, reply } = context;
  const link = await changeInstanceMode(context, path.agentPublicId, path.connectionPublicId, body.instanceMode);
  return reply(200, { connectionPublicId: link.target_id, instanceMode: link.instance_mode });
};
