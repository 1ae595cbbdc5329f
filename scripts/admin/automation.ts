import type { Database } from '../../db/connect.ts';
import { executionDispatched } from '../../db/events.ts';
import {
  type AutomationRow,
  findAutomationAnywhere,
  type ListedExecution,
  selectAutomationsAnywhere,
  selectExecutions,
} from '../../db/queries/automations/automations.ts';
import { inTransaction } from '../../db/transaction.ts';
import { hasAutomationAddress, rotateAutomationAddress, webhookUrl } from '../../domain/automations/address.ts';
import { dispatchExecution } from '../../domain/automations/execute.ts';
import { type Command, CommandError, table, uuid } from './command.ts';
import { originOf } from './origin.ts';
import { printable } from './printable.ts';
import { workspaceList } from './workspaceList.ts';

const clock = { now: () => new Date() };
/** Executions that `show` prints. */
const MAX_SHOWN = 10;

function shown(row: AutomationRow) {
  return {
    automationPublicId: row.id,
    workspacePublicId: row.workspace_id,
    agentPublicId: row.agent_id,
    name: row.name,
    status: row.status,
    inactiveReason: row.inactive_reason,
    triggerMode: row.trigger_mode,
    schedule: row.schedule,
    timezone: row.timezone,
    triggerToolkitSlug: row.trigger_toolkit_slug,
    triggerSlug: row.trigger_slug,
    triggerConfig: row.trigger_config,
    hitlMode: row.hitl_mode,
    nextRunAt: row.next_run_at,
    lastRunAt: row.last_run_at,
    lastRunStatus: row.last_run_status,
    failuresInRow: row.failures_in_row,
  };
}

function shownExecution(row: ListedExecution) {
  return {
    executionPublicId: row.id,
    status: row.status,
    triggeredBy: row.triggered_by,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    errorMessage: row.error_message,
  };
}

/** What starts an automation, in a few words. */
function triggerOf({ trigger_mode, schedule, timezone, trigger_slug }: AutomationRow): string {
  if (trigger_mode === 'schedule') return `${schedule} (${timezone})`;
  return trigger_mode === 'webhook' ? `webhook:${trigger_slug}` : trigger_mode;
}

async function found({ system }: Database, id: string): Promise<AutomationRow> {
  const row = await findAutomationAnywhere(system, id);
  if (!row) throw new CommandError(`There is no automation ${id}`);
  return row;
}

/** Automations of all workspaces. A running service begins a dispatched execution at once, otherwise the next service to start does. */
export const automationCommands: Record<string, Command> = {
  list: workspaceList<AutomationRow>({
    select: ({ system }, workspaceId) => selectAutomationsAnywhere(system, workspaceId),
    json: shown,
    heads: ['AUTOMATION', 'AGENT', 'STATUS', 'TRIGGER', 'NEXT RUN', 'LAST RUN', 'NAME'],
    cells: (row) => [
      row.id,
      row.agent_id,
      row.status,
      printable(triggerOf(row)),
      row.next_run_at?.toISOString() ?? '',
      row.last_run_at ? `${row.last_run_at.toISOString()} ${row.last_run_status}` : 'never',
      printable(row.name),
    ],
  }),
  show: {
    usage: 'ID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'ID');
      return async (database) => {
        const row = await found(database, id);
        const db = database.forWorkspace(row.workspace_id);
        const page = { offset: 0, limit: MAX_SHOWN };
        const { rows } = await selectExecutions(db, row.workspace_id, id, { status: undefined }, page);
        const lines = [
          `automation  ${row.id}`,
          `workspace   ${row.workspace_id}`,
          `agent       ${row.agent_id}`,
          `name        ${printable(row.name)}`,
          `status      ${row.status}${row.inactive_reason === null ? '' : `: ${printable(row.inactive_reason)}`}`,
          `trigger     ${printable(triggerOf(row))}`,
          `next run    ${row.next_run_at?.toISOString() ?? 'none'}`,
        ];
        const executions = table(
          ['EXECUTION', 'STARTED', 'STATUS', 'BY', 'ERROR'],
          rows.map((each) => [
            each.id,
            each.started_at.toISOString(),
            each.status,
            printable(each.triggered_by),
            printable(each.error_message ?? ''),
          ]),
        );
        return {
          json: { ...shown(row), executions: rows.map(shownExecution) },
          text: `${lines.join('\n')}\n\n${executions}`,
        };
      };
    },
  },
  run: {
    usage: 'ID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'ID');
      return async (database) => {
        const { workspace_id: workspaceId } = await found(database, id);
        const { execution } = await inTransaction(database.forWorkspace(workspaceId), async (db) => {
          const context = { db, workspaceId, clock };
          const dispatched = await dispatchExecution(context, { automation: { id }, triggeredBy: 'manual' });
          await executionDispatched.notify(db, { workspaceId, executionId: dispatched.execution.id });
          return dispatched;
        });
        return {
          json: { executionPublicId: execution.id, status: execution.status },
          text: `execution ${execution.id} is dispatched`,
        };
      };
    },
  },
  rotate: {
    usage: 'ID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'ID');
      return async (database, env) => {
        const row = await found(database, id);
        if (!hasAutomationAddress(row)) throw new CommandError(`Automation ${id} has no address`);
        const secret = await rotateAutomationAddress(database.forWorkspace(row.workspace_id), row, clock.now());
        const address = webhookUrl(originOf(env), secret);
        return {
          json: { automationPublicId: id, webhookUrl: address },
          text: `${address}\nKeep this address: it is not shown again. The one before it works for a day more.`,
        };
      };
    },
  },
};
