import { addServer } from '../../domain/externalMcps/addServer.ts';
import { settleDiscovery } from '../../domain/externalMcps/discovery.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

/** Register a server. Throws EXTERNAL_MCP_NAME_TAKEN, MCP_DISCOVERY_FAILED, OAUTH_NOT_SUPPORTED_VIA_API, VALIDATION_ERROR. */
export const createExternalMcp: Handler<'createExternalMcp'> = {
  async prepare(request) {
    const { pending, outcome } = await addServer(request, request.body);
    return async (context) => {
      // Deleted meanwhile: the response still shows what this request made.
      const server = (await settleDiscovery(context, pending, outcome)) ?? pending;
      return context.reply(201, externalMcpBody(server));
    };
  },
};
