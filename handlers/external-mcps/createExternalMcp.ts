import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { discardExternalMcp, insertExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import { checkServerUrl, decideAuth } from '../../domain/externalMcps/auth.ts';
import { attemptDiscovery, settleDiscovery } from '../../domain/externalMcps/discovery.ts';
import { sealCredential } from '../../runtime/mcp/credential.ts';
import { McpFailed } from '../../runtime/mcp/failures.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

export const createExternalMcp: Handler<'createExternalMcp'> = async (context) => {
  const { body, db, workspaceId, runtime, clock, reply } = context;
  const auth = decideAuth(body);
  checkServerUrl(body.url);
  const id = newId();
  const now = clock.now();
  // A name that is taken violates external_mcps_name_key, which is EXTERNAL_MCP_NAME_TAKEN (db/errors.ts).
  const pending = await insertExternalMcp(db, {
    workspace_id: workspaceId,
    id,
    name: body.name,
    url: body.url,
    auth_type: auth.authType,
    auth_header_name: auth.headerName,
    credential: sealCredential(runtime.secrets, workspaceId, id, auth.credential),
    discoveries_begun: 1,
    created_at: now,
    updated_at: now,
  });
  const outcome = await attemptDiscovery(runtime, pending);
  if (outcome instanceof McpFailed && body.rejectIfNotConnected) {
    await discardExternalMcp(db, workspaceId, id, pending.config_version);
    throw fault('MCP_DISCOVERY_FAILED', outcome.message, { cause: outcome });
  }
  const settled = await settleDiscovery(context, pending, outcome);
  return reply(201, externalMcpBody(settled ?? pending));
};
