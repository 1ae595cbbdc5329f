import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import {
  type ExternalMcpRow,
  insertExternalMcp,
  removeUnconnectedExternalMcp,
} from '../../db/queries/tools/externalMcps.ts';
import type { components } from '../../generated/api.ts';
import { sealCredential } from '../../runtime/mcp/credential.ts';
import { McpFailed } from '../../runtime/mcp/failures.ts';
import type { WorkspaceContext } from '../context.ts';
import { checkServerUrl, decideAuth } from './auth.ts';
import { attemptDiscovery, settleDiscovery } from './discovery.ts';

/**
 * Adds an MCP server to the workspace and discovers its tools. A server that cannot be reached is stored with its error, or
 * not at all when the body has `rejectIfNotConnected`. Throws MCP_DISCOVERY_FAILED then, the errors of `decideAuth`,
 * VALIDATION_ERROR for the URL, and EXTERNAL_MCP_NAME_TAKEN by external_mcps_name_key (db/errors.ts).
 */
export async function addServer(
  context: WorkspaceContext,
  body: components['schemas']['ExternalMcpCreate'],
): Promise<ExternalMcpRow> {
  const { db, workspaceId, runtime, clock } = context;
  const auth = decideAuth(body);
  checkServerUrl(body.url);
  const id = newId();
  const now = clock.now();
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
    await removeUnconnectedExternalMcp(db, workspaceId, id, pending.config_version);
    throw fault('MCP_DISCOVERY_FAILED', outcome.message, { cause: outcome });
  }
  // Deleted meanwhile: the response still shows what this request made.
  return (await settleDiscovery(context, pending, outcome)) ?? pending;
}
