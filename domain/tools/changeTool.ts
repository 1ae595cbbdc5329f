import type { Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { findHttpTool, type HttpToolRow, lockHttpTool, updateHttpToolRow } from '../../db/queries/tools/httpTools.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { HttpTools } from '../../generated/db.ts';
import {
  type CheckedConfiguration,
  checkConfiguration,
  keepSecrets,
  type PresentConfiguration,
} from '../../runtime/tools/configuration/configuration.ts';
import { sealSecrets, storedSecrets } from '../../runtime/tools/secrets/secrets.ts';
import type { WorkspaceContext } from '../context.ts';

/**
 * Changes the fields of a tool that the body has. Throws IMMUTABLE_FIELD, HTTP_TOOL_NOT_FOUND, INVALID_TOOL_CONFIGURATION, and
 * HTTP_TOOL_NAME_TAKEN by http_tools_name_key (db/errors.ts).
 */
export async function changeTool(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  id: string,
  body: components['schemas']['HttpToolUpdate'],
): Promise<HttpToolRow> {
  const { name, description, toolType, requiresApproval } = body;
  const configuration = body.configuration ?? undefined;
  if (toolType !== undefined) {
    const details = [{ path: '/body/toolType', message: 'cannot be changed after creation', keyword: 'immutable' }];
    throw fault('IMMUTABLE_FIELD', undefined, { details });
  }
  const present = await findHttpTool(db, workspaceId, id);
  if (!present) throw fault('HTTP_TOOL_NOT_FOUND');
  if (Object.keys(body).length === 0) return present;

  const presentOf = (tool: HttpToolRow): PresentConfiguration => ({
    visible: tool.configuration,
    secrets: storedSecrets(runtime.secrets, workspaceId, tool),
    endpoints: tool.operations ?? [],
  });
  let endpoints: CheckedConfiguration['endpoints'] = null;
  const change: Updateable<HttpTools> = { updated_at: clock.now() };
  if (name !== undefined) change.name = name;
  if (description !== undefined) change.description = description;
  if (requiresApproval !== undefined) change.requires_approval = requiresApproval;
  if (configuration !== undefined) {
    const { allowPrivateNetwork } = runtime;
    const options = { workspaceId, allowPrivateNetwork, present: presentOf(present) };
    ({ endpoints } = await checkConfiguration(present.tool_type, configuration, options));
    change.operations = endpoints && JSON.stringify(endpoints);
  }
  const changed = await inTransaction(db, async (trx) => {
    if (configuration !== undefined) {
      const locked = await lockHttpTool(trx, workspaceId, id);
      if (!locked) return undefined;
      // Read again under the lock: another change may have replaced the secrets that this one keeps, or their origin.
      const { visible, secrets } = keepSecrets(locked.tool_type, configuration, endpoints, presentOf(locked));
      change.configuration = JSON.stringify(visible);
      change.secrets = sealSecrets(runtime.secrets, workspaceId, id, secrets);
    }
    return updateHttpToolRow(trx, workspaceId, id, change);
  });
  if (!changed) throw fault('HTTP_TOOL_NOT_FOUND');
  return changed;
}
