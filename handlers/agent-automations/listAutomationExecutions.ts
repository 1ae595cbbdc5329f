import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { findAutomation, selectExecutions } from '../../db/queries/automations/automations.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { executionBody } from './automationBody.ts';

/** List the executions of an automation. Throws AGENT_NOT_FOUND, AUTOMATION_NOT_FOUND. */
export const listAutomationExecutions: Handler<'listAutomationExecutions'> = async ({
  path,
  query,
  db,
  workspaceId,
  reply,
}) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const automation = await findAutomation(db, workspaceId, path.automationPublicId, path.agentPublicId);
  if (!automation) throw fault('AUTOMATION_NOT_FOUND');
  const window = windowOf(query);
  const { rows, total } = await selectExecutions(db, workspaceId, automation.id, { status: query.status }, window);
  return reply(200, pageOf(rows.map(executionBody), total, window));
};
