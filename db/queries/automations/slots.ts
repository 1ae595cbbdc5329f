import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** Slots of one workspace that are found at once. */
const MAX_OF_WORKSPACE = 100;
/** While so many executions of a workspace wait for a process, no further slot of it is found: what claims jobs reads all that wait. */
const MAX_WAITING = 256;

/** An automation whose slot is due. */
export interface DueAutomation {
  workspaceId: string;
  id: string;
  schedule: string;
  timezone: string | null;
  /** The slot that is due; earlier ones are done. */
  slot: Date;
}

/**
 * Automations of all workspaces whose slot is due: of each workspace what is due longest, then of each the next, so that a workspace
 * with thousands delays no other. The lower bound says nothing new, but with it the planner takes the condition for a range of a few rows
 * and uses the index; by the upper one alone it expects a third of all automations, and reads them all.
 */
export async function findDueAutomations(system: Kysely<DB>, now: Date, limit: number): Promise<DueAutomation[]> {
  const { rows } = await sql<DueAutomation>`
    select w.workspace_id as "workspaceId", due.id, coalesce(due.schedule, '') as schedule, due.timezone, due.next_run_at as slot
    from (
      select workspace_id from automations where due_at > '-infinity' and due_at <= ${now} group by workspace_id
    ) as w cross join lateral (
      select id, schedule, timezone, next_run_at, due_at from automations a
      where a.workspace_id = w.workspace_id and a.due_at > '-infinity' and a.due_at <= ${now} order by a.due_at
      limit greatest(0, least(${sql.lit(MAX_OF_WORKSPACE)}, ${sql.lit(MAX_WAITING)} - (select count(*) from automation_executions e
        where e.workspace_id = w.workspace_id and e.status = 'DISPATCHED')))
    ) as due
    order by row_number() over (partition by w.workspace_id order by due_at, id), due_at, id limit ${limit}`.execute(
    system,
  );
  return rows;
}

/** When the next slot of all workspaces is due, if that is before `horizon`. */
export async function findNextSlotTime(system: Kysely<DB>, horizon: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ next: Date | null }>`
    select min(due_at) as next from automations where due_at < ${horizon}`.execute(system);
  return rows[0]?.next ?? undefined;
}

/** What becomes of an automation whose slot is due. */
export interface SlotAdvance {
  id: string;
  /** The slot that was due when this was planned. When it no longer is, another process was faster. */
  slot: Date;
  /** The slots that are done with, in their order. */
  executions: readonly {
    id: string;
    conversationId: string;
    slot: Date;
    /** Why it is not run; null: it is run, unless an execution of the automation has not ended. */
    skipped: string | null;
  }[];
  /** The next slot, and when it is begun; null when there is none. */
  next: { slot: Date; dueAt: Date } | null;
  /** Why the automation becomes inactive; null: it does not. */
  inactiveReason: string | null;
}

/**
 * Does the slots of a workspace that are due: stores their executions, and moves the automations to their next slots. One statement, so
 * all or nothing, also when the process dies. A slot has one execution, however many processes do it at once: they skip what another one
 * works on. Returns the executions that are to be run.
 */
export async function claimSlots(
  db: Kysely<DB>,
  workspaceId: string,
  advances: readonly SlotAdvance[],
  { now, busy }: { now: Date; busy: string },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with advance as (
      select * from jsonb_to_recordset(${JSON.stringify(advances)}::jsonb)
        as advance (id uuid, slot timestamptz, executions jsonb, next jsonb, "inactiveReason" text)
    ), due as (
      select a.id, exists (select from automation_executions e where e.workspace_id = ${workspaceId} and e.automation_id = a.id
          and e.status in ('DISPATCHED', 'RUNNING')) as is_busy
      from automations a join advance on advance.id = a.id and advance.slot = a.next_run_at
      where a.workspace_id = ${workspaceId} and a.due_at <= ${now}
      for update of a skip locked
    ), moved as (
      update automations a set next_run_at = (advance.next ->> 'slot')::timestamptz, due_at = (advance.next ->> 'dueAt')::timestamptz,
        status = case when advance."inactiveReason" is null then a.status else 'inactive' end,
        inactive_reason = coalesce(advance."inactiveReason", a.inactive_reason)
      from due join advance using (id)
      where a.workspace_id = ${workspaceId} and a.id = due.id
    ), stored as (
      insert into automation_executions (workspace_id, id, automation_id, slot, triggered_by, status, is_skipped, conversation_id,
        error_message, started_at, completed_at)
      select ${workspaceId}, execution.id, due.id, execution.slot, 'schedule', case when reason is null then 'DISPATCHED' else 'FAILED' end,
        reason is not null, execution."conversationId", reason, ${now}, case when reason is null then null else ${now}::timestamptz end
      from due join advance using (id)
      cross join lateral jsonb_to_recordset(advance.executions)
        as execution (id uuid, "conversationId" uuid, slot timestamptz, skipped text)
      cross join lateral (select coalesce(execution.skipped, case when due.is_busy then ${busy} end) as reason) as why
      on conflict do nothing
      returning id, is_skipped
    )
    select id from stored where not is_skipped`.execute(db);
  return rows.map(({ id }) => id);
}
