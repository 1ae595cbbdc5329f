import type { Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { findHttpTool, type HttpToolRow, lockHttpTool, updateHttpTool } from '../../db/queries/tools/httpTools.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { HttpTools } from '../../generated/db.ts';
import { checkConfiguration, keepSecrets } from '../../runtime/tools/configuration/configuration.ts';
import { sealSecrets, storedSecrets } from '../../runtime/tools/secrets/secrets.ts';
import type { Handler } from '../handler.ts';
import { toolBody } from './toolBody.ts';

/** Change a tool. Throws IMMUTABLE_FIELD, HTTP_TOOL_NOT_FOUND, HTTP_TOOL_NAME_TAKEN, INVALID_TOOL_CONFIGURATION. */
export const updateTool: Handler<'updateTool'> = async ({ path, body, db, workspaceId, runtime, clock, reply }) => {
  const { name, description, toolType, requiresApproval, configuration } = body;
  if (toolType !== undefined) {
    const details = [{ path: '/body/toolType', message: 'cannot be changed after creation', keyword: 'immutable' }];
    throw fault('IMMUTABLE_FIELD', undefined, { details });
  }
  const id = path.httpToolPublicId;
  const secretsOf = (tool: HttpToolRow) => storedSecrets(runtime.secrets, workspaceId, tool);
  const present = await findHttpTool(db, workspaceId, id);
  if (!present) throw fault('HTTP_TOOL_NOT_FOUND');
  if (Object.keys(body).length === 0) return reply(200, toolBody(present));

  const change: Updateable<HttpTools> = { updated_at: clock.now() };
  if (name !== undefined) change.name = name;
  if (description !== undefined) change.description = description;
  if (requiresApproval !== undefined) change.requires_approval = requiresApproval;
  if (configuration !== undefined) {
    const { allowPrivateNetwork } = runtime;
    const checked = await checkConfiguration(present.tool_type, configuration, {
      allowPrivateNetwork,
      stored: secretsOf(present),
    });
    change.operations = checked.endpoints && JSON.stringify(checked.endpoints);
  }
  const tool = await inTransaction(db, async (trx) => {
    if (configuration !== undefined) {
      const held = await lockHttpTool(trx, workspaceId, id);
      if (!held) return undefined;
      // Once more with the tool held: another change may have replaced the secrets that are to be kept.
      const { visible, secrets } = keepSecrets(held.tool_type, configuration, secretsOf(held));
      change.configuration = JSON.stringify(visible);
      change.secrets = sealSecrets(runtime.secrets, workspaceId, id, secrets);
    }
    // A name that is taken violates http_tools_name_key, which is HTTP_TOOL_NAME_TAKEN (db/errors.ts).
    return updateHttpTool(trx, workspaceId, id, change);
  });
  if (!tool) throw fault('HTTP_TOOL_NOT_FOUND');
  return reply(200, toolBody(tool));
};
