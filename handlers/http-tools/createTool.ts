import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { insertHttpTool, reserveToolPlace } from '../../db/queries/tools/httpTools.ts';
import { inTransaction } from '../../db/transaction.ts';
import { checkConfiguration } from '../../runtime/tools/configuration/configuration.ts';
import { sealSecrets } from '../../runtime/tools/secrets/secrets.ts';
import type { Handler } from '../handler.ts';
import { toolBody } from './toolBody.ts';

/** Create a tool. Throws HTTP_TOOL_NAME_TAKEN, HTTP_TOOL_LIMIT_REACHED, INVALID_TOOL_TYPE, INVALID_TOOL_CONFIGURATION. */
export const createTool: Handler<'createTool'> = async ({ body, db, workspaceId, runtime, clock, reply }) => {
  const { name, description = null, toolType, requiresApproval = false } = body;
  if (toolType === 'PARTNER_MCP') throw fault('INVALID_TOOL_TYPE');
  const checked = await checkConfiguration(toolType, body.configuration, runtime);
  const id = newId();
  const now = clock.now();
  const tool = await inTransaction(db, async (trx) => {
    if (!(await reserveToolPlace(trx, workspaceId))) throw fault('HTTP_TOOL_LIMIT_REACHED');
    // A name that is taken violates http_tools_name_key, which is HTTP_TOOL_NAME_TAKEN (db/errors.ts).
    return insertHttpTool(trx, {
      workspace_id: workspaceId,
      id,
      name,
      description,
      tool_type: toolType,
      requires_approval: requiresApproval,
      configuration: JSON.stringify(checked.visible),
      secrets: sealSecrets(runtime.secrets, workspaceId, id, checked.secrets),
      operations: checked.endpoints && JSON.stringify(checked.endpoints),
      created_at: now,
      updated_at: now,
    });
  });
  return reply(201, toolBody(tool));
};
