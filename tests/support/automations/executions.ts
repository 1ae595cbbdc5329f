import { pino } from 'pino';
import { newId } from '../../../core/ids.ts';
import type { ExecutionRow } from '../../../db/queries/automations/executions.ts';
import { dispatchExecution, type ExecutionTrigger } from '../../../domain/automations/execute.ts';
import type { JobContext, JobData } from '../../../jobs/jobs.ts';
import { runAutomation } from '../../../jobs/runAutomation.ts';
import type { TestApp } from '../http/app.ts';

/** What the queue gives to the job, in the service of `app`. */
export function contextOf({ database, service, clock }: TestApp): JobContext {
  return {
    database: database.database,
    runtime: service.runtime,
    clock,
    logger: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  };
}

/** Stores an automation of the agent; it is due at `dueAt` if it has a schedule. Returns its id. */
export async function storedAutomation(
  { workspace }: Pick<TestApp, 'workspace'>,
  agentId: string,
  fields: {
    prompt?: string;
    hitlMode?: 'auto_approve' | 'pause_on_approval';
    schedule?: string;
    timezone?: string;
    nextRunAt?: Date;
    dueAt?: Date;
  } = {},
): Promise<string> {
  const id = newId();
  const { nextRunAt = null, dueAt = nextRunAt } = fields;
  await workspace.db
    .insertInto('automations')
    .values({
      workspace_id: workspace.workspaceId,
      id,
      agent_id: agentId,
      name: `Automation ${id}`,
      prompt: fields.prompt ?? 'Write the report.',
      hitl_mode: fields.hitlMode ?? 'pause_on_approval',
      trigger_mode: fields.schedule === undefined ? 'manual' : 'schedule',
      schedule: fields.schedule ?? null,
      timezone: fields.schedule === undefined ? null : (fields.timezone ?? 'UTC'),
      next_run_at: nextRunAt,
      due_at: dueAt,
    })
    .execute();
  return id;
}

/** Dispatches an execution as a person or a webhook does. Returns its id. */
export async function dispatched(
  { service, workspace, clock }: TestApp,
  automationId: string,
  trigger: Partial<ExecutionTrigger> = {},
): Promise<string> {
  const { workspaceId, db } = workspace;
  const context = { db, workspaceId, clock, runtime: service.runtime };
  const automation = { id: automationId };
  const { execution } = await dispatchExecution(context, { triggeredBy: 'manual', ...trigger, automation });
  return execution.id;
}

/** What the queue would take up now. */
export const sweep = (app: TestApp): Promise<JobData['run-automation'][]> => runAutomation.sweep(contextOf(app));

/** Runs an execution as the queue does. */
export async function run(app: TestApp, executionId: string): Promise<void> {
  await runAutomation.run({ workspaceId: app.workspace.workspaceId, executionId }, contextOf(app));
}

/** An execution as it is stored. */
export async function execution({ workspace }: TestApp, id: string): Promise<ExecutionRow> {
  return await workspace.db
    .selectFrom('automation_executions')
    .selectAll()
    .where('workspace_id', '=', workspace.workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** What an automation shows of its runs. */
export async function automation({ workspace }: TestApp, id: string) {
  return await workspace.db
    .selectFrom('automations')
    .select(['status', 'inactive_reason', 'failures_in_row', 'last_run_at', 'last_run_status', 'next_run_at', 'due_at'])
    .where('workspace_id', '=', workspace.workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
