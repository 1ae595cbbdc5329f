import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type HttpToolRow, insertHttpTool, reserveToolPlace } from '../../db/queries/tools/httpTools.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import { checkConfiguration } from '../../runtime/tools/configuration/configuration.ts';
import { sealSecrets } from '../../runtime/tools/secrets/secrets.ts';
import type { WorkspaceContext } from '../context.ts';

/**
 * Adds a tool to the workspace. Throws INVALID_TOOL_TYPE, INVALID_TOOL_CONFIGURATION, HTTP_TOOL_LIMIT_REACHED, and
 * HTTP_TOOL_NAME_TAKEN by http_tools_name_key (db/errors.ts).
 */
export async function addTool(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  body: components['schemas']['HttpToolCreate'],
): Promise<HttpToolRow> {
  const { name, description = null, toolType, requiresApproval = false } = body;
  if (toolType === 'PARTNER_MCP') throw fault('INVALID_TOOL_TYPE');
  const { visible, secrets, endpoints } = await checkConfiguration(toolType, body.configuration, runtime);
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
