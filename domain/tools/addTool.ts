import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type HttpToolRow, insertHttpTool, reserveToolPlace } from '../../db/queries/tools/httpTools.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import { checkConfiguration } from '../../runtime/tools/configuration/configuration.ts';
import { sealSecrets } from '../../runtime/tools/secrets/secrets.ts';
import type { WorkspaceContext } from '../context.ts';

/** A tool that passed all checks and is not stored yet. */
export interface PreparedTool {
  body: components['schemas']['HttpToolCreate'];
  toolType: HttpToolRow['tool_type'];
  configuration: Awaited<ReturnType<typeof checkConfiguration>>;
}

/**
 * Checks a new tool; that may read a document from another server. Throws INVALID_TOOL_TYPE, INVALID_TOOL_CONFIGURATION.
 */
export async function prepareTool(
  { workspaceId, runtime }: Pick<WorkspaceContext, 'workspaceId' | 'runtime'>,
  body: PreparedTool['body'],
): Promise<PreparedTool> {
  const { toolType } = body;
  if (toolType === 'PARTNER_MCP') throw fault('INVALID_TOOL_TYPE');
  const { allowPrivateNetwork } = runtime;
  const configuration = await checkConfiguration(toolType, body.configuration, { workspaceId, allowPrivateNetwork });
  return { body, toolType, configuration };
}

/** Adds a tool to the workspace. Throws HTTP_TOOL_LIMIT_REACHED, and HTTP_TOOL_NAME_TAKEN by http_tools_name_key (db/errors.ts). */
export async function storeTool(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  { body, toolType, configuration }: PreparedTool,
): Promise<HttpToolRow> {
  const { name, description = null, requiresApproval = false } = body;
  const { visible, secrets, endpoints } = configuration;
  const id = newId();
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    if (!(await reserveToolPlace(trx, workspaceId))) throw fault('HTTP_TOOL_LIMIT_REACHED');
    return insertHttpTool(trx, {
      workspace_id: workspaceId,
      id,
      name,
      description,
      tool_type: toolType,
      requires_approval: requiresApproval,
      configuration: JSON.stringify(visible),
      secrets: sealSecrets(runtime.secrets, workspaceId, id, secrets),
      operations: endpoints && JSON.stringify(endpoints),
      created_at: now,
      updated_at: now,
    });
  });
}
