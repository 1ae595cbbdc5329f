import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import {
  type ExternalMcpRow,
  findExternalMcp,
  insertExternalMcp,
  removeUnconnectedExternalMcp,
} from '../../db/queries/tools/externalMcps.ts';
import { type KeyClaim, noteBegun } from '../../db/queries/workspaces/idempotencyKeys.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import { sealCredential } from '../../runtime/mcp/credential.ts';
import { McpFailed } from '../../runtime/mcp/failures.ts';
import type { WorkspaceContext } from '../context.ts';
import { takeRoom } from '../workspaces/room.ts';
import { checkServerUrl, decideAuth } from './auth.ts';
import { attemptDiscovery, type DiscoveryOutcome } from './discovery.ts';

/** A server that is stored, and what came of its first discovery. */
export interface AddedServer {
  pending: ExternalMcpRow;
  outcome: DiscoveryOutcome;
}

/** What adding a server needs. With a claim, an attempt that died is continued with the server that it stored. */
export type ServerContext = WorkspaceContext & { claim?: KeyClaim | undefined };

/**
 * Adds an MCP server to the workspace and discovers its tools; `settleDiscovery` then stores them. A server that cannot be reached is
 * not kept when the body has `rejectIfNotConnected`. Throws MCP_DISCOVERY_FAILED then, the errors of `decideAuth`,
 * VALIDATION_ERROR for the URL, RATE_LIMITED at the workspace's limit of servers, and EXTERNAL_MCP_NAME_TAKEN by external_mcps_name_key (db/errors.ts).
 */
export async function addServer(
  context: ServerContext,
  body: components['schemas']['ExternalMcpCreate'],
): Promise<AddedServer> {
  const { db, workspaceId, runtime } = context;
  const pending = (await findBegun(context)) ?? (await storePending(context, body));
  const outcome = await attemptDiscovery(runtime, pending);
  if (outcome instanceof McpFailed && body.rejectIfNotConnected) {
    await removeUnconnectedExternalMcp(db, workspaceId, pending.id, pending.config_version);
    throw fault('MCP_DISCOVERY_FAILED', outcome.message, { cause: outcome });
  }
  return { pending, outcome };
}

async function findBegun({ db, workspaceId, claim }: ServerContext): Promise<ExternalMcpRow | undefined> {
  const id = claim?.begun?.serverId;
  return id === undefined ? undefined : findExternalMcp(db, workspaceId, id);
}

async function storePending(
  { db, workspaceId, runtime, clock, claim }: ServerContext,
  body: components['schemas']['ExternalMcpCreate'],
): Promise<ExternalMcpRow> {
  const auth = decideAuth(body);
  checkServerUrl(body.url);
  const id = newId();
  const now = clock.now();
  const row = {
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
  };
  return inTransaction(db, async (trx) => {
    await takeRoom(trx, workspaceId, 'external_mcp', { now });
    if (claim) await noteBegun(trx, claim, { serverId: id });
    return insertExternalMcp(trx, row);
  });
}
