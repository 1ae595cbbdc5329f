import { type Kysely, type Selectable, sql } from 'kysely';
import type { AutomationExecutions, Automations, DB } from '../../../generated/db.ts';

/** A run of an automation, or a slot that was skipped. */
export type ExecutionRow = Selectable<AutomationExecutions>;

/** After so many failures in a row an automation becomes inactive. */
export const MAX_FAILURES_IN_ROW = 10;
/** A process that has taken an execution begins its conversation within this time, or counts as dead. */
const TAKEN_SECONDS = 20;
/** Rows that one statement removes. */
const MAX_REMOVED = 5_000;
/** A sender's key is honoured for this time. */
const KEY_HOURS = 24;

/** What a sender sent, as it is stored. Its text is removed when the execution ends; the digest still tells a repetition from another event. */
export interface StoredEvent {
  contentType: string;
  text?: string;
  /** SHA-256 of the text in hexadecimal digits. */
  digest: string;
}

/** An execution as it is dispatched. */
export type NewExecution = Pick<
  ExecutionRow,
  'workspace_id' | 'id' | 'automation_id' | 'triggered_by' | 'conversation_id' | 'started_at' | 'request_key'
> & { event: StoredEvent | null };

/**
 * Stores an execution. When the automation has one with the same request key from the last 24 hours, nothing is stored and that one
 * is returned.
 */
export async function insertExecution(
  db: Kysely<DB>,
  { event, ...execution }: NewExecution,
): Promise<{ execution: ExecutionRow; isNew: boolean }> {
  const { workspace_id: workspaceId, automation_id: automationId, request_key: key, started_at: now } = execution;
  const ofKey = () =>
    db
      .selectFrom('automation_executions')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('automation_id', '=', automationId)
      .where('request_key', '=', key);
  if (key) {
    await db
      .updateTable('automation_executions')
      .set({ request_key: null })
      .where('workspace_id', '=', workspaceId)
      .where('automation_id', '=', automationId)
      .where('request_key', '=', key)
      .where('started_at', '<=', new Date(now.getTime() - KEY_HOURS * 3_600_000))
      .execute();
  }
  const stored = await db
    .insertInto('automation_executions')
    .values({ ...execution, event: event && JSON.stringify(event) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (stored) return { execution: stored, isNew: true };
  return { execution: await ofKey().executeTakeFirstOrThrow(), isNew: false };
}

/** An execution that a process works on, and what its automation says. */
export type TakenExecution = ExecutionRow &
  Pick<Selectable<Automations>, 'agent_id' | 'prompt' | 'hitl_mode'> & {
    /** The automation or its agent is deleted. */
    is_gone: boolean;
    /** An earlier attempt has begun the conversation. */
    is_begun: boolean;
  };

/**
 * Takes a dispatched execution that is due: one caller gets it, which must then run it. It is RUNNING then. Undefined when it is not
 * there, not due, or not DISPATCHED.
 */
export async function takeExecution(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<TakenExecution | undefined> {
  const { rows } = await sql<TakenExecution>`
    with taken as (
      update automation_executions set status = 'RUNNING', attempts = attempts + 1, begun_at = coalesce(begun_at, ${now}), retry_at = null,
        taken_until = now() + make_interval(secs => ${sql.lit(TAKEN_SECONDS)})
      where workspace_id = ${workspaceId} and id = ${id} and status = 'DISPATCHED' and (retry_at is null or retry_at <= ${now})
      returning *
    ), shown as (
      update automations a set last_run_at = taken.begun_at, last_run_status = 'RUNNING' from taken
      where a.workspace_id = ${workspaceId} and a.id = taken.automation_id and (a.last_run_at is null or a.last_run_at <= taken.begun_at)
    )
    select taken.*, a.agent_id, a.prompt, a.hitl_mode, (a.deleted_at is not null or g.deleted_at is not null) as is_gone,
      exists (select from conversations c where c.workspace_id = ${workspaceId} and c.id = taken.conversation_id) as is_begun
    from taken join automations a on a.workspace_id = ${workspaceId} and a.id = taken.automation_id
    join agents g on g.workspace_id = ${workspaceId} and g.id = a.agent_id`.execute(db);
  return rows[0];
}

/** Why an execution did not come to its end. */
export interface ExecutionFailure {
  code: string;
  /** As the list of executions shows it: without any secret. */
  message: string;
}

/**
 * Ends a running execution as FAILED, if no later attempt has begun. The automation becomes inactive after MAX_FAILURES_IN_ROW failures in
 * a row, and the message of the execution says so.
 */
export async function failExecution(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id, attempts }: Pick<ExecutionRow, 'workspace_id' | 'id' | 'attempts'>,
  { code, message }: ExecutionFailure,
  now: Date,
): Promise<void> {
  const reason = `It became inactive after ${MAX_FAILURES_IN_ROW} failures in a row. The last one: ${message}`;
  const isLast = sql`a.status = 'active' and a.failures_in_row + 1 >= ${sql.lit(MAX_FAILURES_IN_ROW)}`;
  await sql`
    with open as (
      select automation_id, begun_at from automation_executions
      where workspace_id = ${workspaceId} and id = ${id} and status = 'RUNNING' and attempts = ${attempts} for update
    ), automation as (
      update automations a set failures_in_row = a.failures_in_row + 1,
        last_run_status = case when a.last_run_at = open.begun_at then 'FAILED' else a.last_run_status end,
        status = case when ${isLast} then 'inactive' else a.status end,
        inactive_reason = case when ${isLast} then ${reason} else a.inactive_reason end,
        next_run_at = case when ${isLast} then null else a.next_run_at end, due_at = case when ${isLast} then null else a.due_at end,
        updated_at = case when ${isLast} then ${now} else a.updated_at end
      from open where a.workspace_id = ${workspaceId} and a.id = open.automation_id
      returning a.status = 'inactive' and a.inactive_reason = ${reason} as ended
    )
    update automation_executions e set status = 'FAILED', completed_at = greatest(e.started_at, ${now}), error_code = ${code},
      error_message = case when automation.ended
        then ${`${message} The automation is inactive now: it failed ${MAX_FAILURES_IN_ROW} times in a row.`} else ${message} end,
      retry_at = null, taken_until = null, event = e.event - 'text'
    from automation
    where e.workspace_id = ${workspaceId} and e.id = ${id}`.execute(db);
}

/** Lets a running execution be tried again at `retryAt`, if no later attempt has begun. */
export async function updateExecutionRetry(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id, attempts }: Pick<ExecutionRow, 'workspace_id' | 'id' | 'attempts'>,
  { code, message }: ExecutionFailure,
  retryAt: Date,
): Promise<void> {
  await db
    .updateTable('automation_executions')
    .set({ status: 'DISPATCHED', retry_at: retryAt, taken_until: null, error_code: code, error_message: message })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .where('attempts', '=', attempts)
    .execute();
}

/** Removes executions of all workspaces that ended before a time. Their conversations stay. */
export async function removeOldExecutions(system: Kysely<DB>, before: Date): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from automation_executions e using (
        select workspace_id, id from automation_executions
        where completed_at < ${before} order by completed_at limit ${sql.lit(MAX_REMOVED)} for update skip locked
      ) as old
      where e.workspace_id = old.workspace_id and e.id = old.id`.execute(system);
    if (numAffectedRows < BigInt(MAX_REMOVED)) return;
  }
}
