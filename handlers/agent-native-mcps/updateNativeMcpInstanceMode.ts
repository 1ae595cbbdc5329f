import { changeLink } from '../../domain/agents/links/links.ts';
import { askAboutLink } from '../../domain/agents/links/nativeMcpLinks.ts';
import type { Handler } from '../handler.ts';

export const updateNativeMcpInstanceMode: Handler<'updateNativeMcpInstanceMode'> = async (context) => {
  const { path, body, reply } = context;
  const connectionId = path.connectionPublicId.toLowerCase();
  await askAboutLink(context, path.agentPublicId, connectionId);
  const link = await changeLink(context, path.agentPublicId, 'native_mcp', connectionId, async () => ({
    instance_mode: body.instanceMode,
  }));
  return reply(200, { connectionPublicId: link.target_id, instanceMode: link.instance_mode });
};
