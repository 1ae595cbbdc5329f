import type { Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type SecretBox, SecretUnreadable } from '../../core/secrets.ts';
import { type ExternalMcpRow, lockExternalMcp, updateExternalMcpRow } from '../../db/queries/tools/externalMcps.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { ExternalMcps } from '../../generated/db.ts';
import { type McpCredential, openCredential, sealCredential } from '../../runtime/mcp/credential.ts';
import type { WorkspaceContext } from '../context.ts';
import { changesAuth, checkServerUrl, decideAuth } from './auth.ts';
import { discover } from './discovery.ts';

type ServerChange = components['schemas']['ExternalMcpUpdate'];

/** The stored credential; null when there is none, or when it cannot be read any more. */
function storedCredential(secrets: SecretBox, row: ExternalMcpRow): McpCredential | null {
  try {
    return openCredential(secrets, row);
  } catch (error) {
    if (error instanceof SecretUnreadable) return null;
    throw error;
  }
}

const WITHHELD =
  'The new address is of another origin (scheme, host and port) than the one that the stored credential was given for. Send the credential again.';

/**
 * The new values of the columns that say how to reach the server; empty when the change touches none of them. The stored credential
 * stays with its origin: who may change a server could otherwise read it, by the address of a server of their own.
 */
function connectionColumns(secrets: SecretBox, row: ExternalMcpRow, body: ServerChange): Updateable<ExternalMcps> {
  const columns: Updateable<ExternalMcps> = {};
  if (body.url !== undefined && body.url !== row.url) {
    checkServerUrl(body.url);
    columns.url = body.url;
  }
  const present = { authType: row.auth_type, headerName: row.auth_header_name };
  const moves = columns.url !== undefined && URL.parse(columns.url)?.origin !== URL.parse(row.url)?.origin;
  if (!changesAuth(body, present) && !moves) return columns;
  const auth = decideAuth(body, {
    ...present,
    stored: () => (moves ? null : storedCredential(secrets, row)),
    withheld: moves ? WITHHELD : undefined,
  });
  const credential = sealCredential(secrets, row.workspace_id, row.id, auth.credential);
  return { ...columns, auth_type: auth.authType, auth_header_name: auth.headerName, credential };
}

/**
 * Changes the fields of a server that the body has. A new address or credential begins a discovery of its tools. Throws
 * EXTERNAL_MCP_NOT_FOUND, the errors of `decideAuth`, VALIDATION_ERROR for the URL, and EXTERNAL_MCP_NAME_TAKEN by
 * external_mcps_name_key (db/errors.ts).
 */
export async function changeServer(context: WorkspaceContext, id: string, body: ServerChange): Promise<ExternalMcpRow> {
  const { db, workspaceId, runtime, clock } = context;
  const { row, reconnect } = await inTransaction(db, async (trx) => {
    const present = await lockExternalMcp(trx, workspaceId, id);
    if (!present) throw fault('EXTERNAL_MCP_NOT_FOUND');
    if (Object.keys(body).length === 0) return { row: present, reconnect: false };
    const connection = connectionColumns(runtime.secrets, present, body);
    const reconnect = Object.keys(connection).length > 0;
    const untried = {
      status: 'PENDING' as const,
      error_message: null,
      config_version: present.config_version + 1,
      discoveries_begun: present.discoveries_begun + 1,
    };
    const row = await updateExternalMcpRow(trx, workspaceId, present.id, {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...connection,
      ...(reconnect ? untried : {}),
      updated_at: clock.now(),
    });
    return { row, reconnect };
  });
  const settled = reconnect ? await discover(context, row) : row;
  if (!settled) throw fault('EXTERNAL_MCP_NOT_FOUND');
  return settled;
}
