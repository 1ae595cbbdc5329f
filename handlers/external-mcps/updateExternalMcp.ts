import type { Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type SecretBox, SecretUnreadable } from '../../core/secrets.ts';
import { type ExternalMcpRow, lockExternalMcp, updateExternalMcpRow } from '../../db/queries/tools/externalMcps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { changesAuth, checkServerUrl, decideAuth } from '../../domain/externalMcps/auth.ts';
import { discover } from '../../domain/externalMcps/discovery.ts';
import type { ExternalMcps } from '../../generated/db.ts';
import { type McpCredential, openCredential, sealCredential } from '../../runtime/mcp/credential.ts';
import type { BodyOf, Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

function readable(secrets: SecretBox, row: ExternalMcpRow): McpCredential | null {
  try {
    return openCredential(secrets, row);
  } catch (error) {
    if (error instanceof SecretUnreadable) return null;
    throw error;
  }
}

/** The columns that tell how to reach the server, as far as the change touches them. */
function connectionColumns(
  secrets: SecretBox,
  row: ExternalMcpRow,
  body: BodyOf<'updateExternalMcp'>,
): Updateable<ExternalMcps> {
  const columns: Updateable<ExternalMcps> = {};
  if (body.url !== undefined && body.url !== row.url) {
    checkServerUrl(body.url);
    columns.url = body.url;
  }
  const present = { authType: row.auth_type, headerName: row.auth_header_name };
  if (!changesAuth(body, present)) return columns;
  const auth = decideAuth(body, { ...present, stored: () => readable(secrets, row) });
  const credential = sealCredential(secrets, row.workspace_id, row.id, auth.credential);
  return { ...columns, auth_type: auth.authType, auth_header_name: auth.headerName, credential };
}

export const updateExternalMcp: Handler<'updateExternalMcp'> = async (context) => {
  const { path, body, db, workspaceId, runtime, clock, reply } = context;
  const { row, reconnect } = await inTransaction(db, async (trx) => {
    const present = await lockExternalMcp(trx, workspaceId, path.externalMcpPublicId);
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
    // A name that is taken violates external_mcps_name_key, which is EXTERNAL_MCP_NAME_TAKEN (db/errors.ts).
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
  return reply(200, externalMcpBody(settled));
};
