import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';
import type { ExecutionRow } from './executions.ts';

/** Calls that nobody has decided for so long end their execution. */
export const APPROVAL_DAYS = 7;
/** So long after a decision the agent is tried to be continued. */
const DECIDED_HOURS = 24;
const DAY_MS = 86_400_000;

/** An execution, and what the tables of the run-time say of its turns. They are the truth: they are written with the work itself. */
export interface ExecutionState {
  execution: ExecutionRow;
  /** The automation or its agent is deleted. */
  isGone: boolean;
  /** `none`: it has not begun yet, or never will. `held`: a turn runs in it; if its process died, another goes on with it. */
  conversation: 'none' | 'deleted' | 'held' | 'free';
  /** Whether the process that took the execution may still be about to begin the conversation. */
  isTaken: boolean;
  /** The latest turn that answered the prompt or continued it. */
  turn: { status: string; code: string | null; message: string | null } | null;
  /** A turn of the conversation waits for approvals. */
  isWaiting: boolean;
  /** Of the call that waits longest for a decision. */
  undecidedSince: Date | null;
  /** Of the last decision. */
  decidedAt: Date | null;
  /** Whether a tool call of the conversation was begun. */
  hasCalledTools: boolean;
}

/** The state of an execution; undefined when there is none of this id. */
export async function findExecutionState(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<ExecutionState | undefined> {
  const { rows } = await sql<Omit<ExecutionState, 'execution'> & ExecutionRow>`
    select e.*, (a.deleted_at is not null or g.deleted_at is not null) as "isGone",
      case when c.id is null then 'none' when c.deleted_at is not null then 'deleted'
        when c.turn_id is not null then 'held' else 'free' end as conversation,
      coalesce(e.taken_until >= now(), false) as "isTaken",
      (select json_build_object('status', t.status, 'code', t.error_code, 'message', t.error_message) from turns t
        where t.workspace_id = ${workspaceId} and t.conversation_id = e.conversation_id and t.kind in ('message', 'continuation')
        order by t.started_at desc, t.id desc limit 1) as turn,
      exists (select from turns t where t.workspace_id = ${workspaceId} and t.conversation_id = e.conversation_id and t.paused is not null) as "isWaiting",
      (select min(p.requested_at) from approvals p
        where p.workspace_id = ${workspaceId} and p.conversation_id = e.conversation_id and p.status = 'pending') as "undecidedSince",
      (select max(p.decided_at) from approvals p
        where p.workspace_id = ${workspaceId} and p.conversation_id = e.conversation_id) as "decidedAt",
      exists (select from turns t join turn_steps s on s.workspace_id = t.workspace_id and s.turn_id = t.id
        where t.workspace_id = ${workspaceId} and t.conversation_id = e.conversation_id and s.kind = 'tool' and s.status <> 'waiting') as "hasCalledTools"
    from automation_executions e
    join automations a on a.workspace_id = ${workspaceId} and a.id = e.automation_id
    join agents g on g.workspace_id = ${workspaceId} and g.id = a.agent_id
    left join conversations c on c.workspace_id = ${workspaceId} and c.id = e.conversation_id
    where e.workspace_id = ${workspaceId} and e.id = ${id}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { isGone, conversation, isTaken, turn, isWaiting, undecidedSince, decidedAt, hasCalledTools, ...execution } =
    row;
  return {
    execution,
    isGone,
    conversation,
    isTaken,
    turn,
    isWaiting,
    undecidedSince,
    decidedAt,
    hasCalledTools,
  };
}

/** When an undecided call ends its execution, and when a decided one does that the agent could not go on after. */
export function waitingLimits(now: Date): { undecidedBefore: Date; decidedBefore: Date } {
  return {
    undecidedBefore: new Date(now.getTime() - APPROVAL_DAYS * DAY_MS),
    decidedBefore: new Date(now.getTime() - DECIDED_HOURS * 3_600_000),
  };
}

/**
 * Executions of all workspaces that need a process: dispatched ones that are due, and running ones whose process died, or whose wait for
 * a person is over. Of each workspace what waits longest, then of each the next. The next time is when one is to be tried again; the beginning
 * of time when one has been waiting for a process since `waitingSince`.
 */
export async function findExecutionsToRun(
  system: Kysely<DB>,
  { now, waitingSince, limit }: { now: Date; waitingSince: Date; limit: number },
): Promise<Swept<{ workspaceId: string; executionId: string }>> {
  const { undecidedBefore, decidedBefore } = waitingLimits(now);
  const due = sql<{ workspaceId: string; executionId: string }>`
    select workspace_id as "workspaceId", id as "executionId" from (
      (select workspace_id, id, started_at from automation_executions
        where status = 'DISPATCHED' and (retry_at is null or retry_at <= ${now}))
      union all
      select e.workspace_id, e.id, e.started_at from automation_executions e
      left join conversations c on c.workspace_id = e.workspace_id and c.id = e.conversation_id
      where e.status = 'RUNNING' and case when c.id is null then e.taken_until < now()
          when c.deleted_at is not null then true
          when c.turn_id is not null then false
          else not exists (select from turns t
              where t.workspace_id = e.workspace_id and t.conversation_id = e.conversation_id and t.paused is not null)
            or exists (select from approvals p where p.workspace_id = e.workspace_id and p.conversation_id = e.conversation_id
              and p.status = 'pending' and p.requested_at < ${undecidedBefore})
            or (not exists (select from approvals p where p.workspace_id = e.workspace_id and p.conversation_id = e.conversation_id
                and (p.status = 'pending' or p.decided_at >= ${decidedBefore}))) end
    ) as open
    order by row_number() over (partition by workspace_id order by started_at, id), started_at, id limit ${limit}`;
  const next = sql`
    select case when exists (select from automation_executions where status = 'DISPATCHED' and started_at < ${waitingSince} and retry_at is null)
      then to_timestamp(0) else (select min(retry_at) from automation_executions) end`;
  const { rows } = await sweeping(due, next).execute(system);
  return sweptOf(rows);
}

/**
 * Since when the slot or the execution that waits longest is due, of all workspaces: a slot that no process has dispatched yet, or an
 * execution that has not begun. Undefined when none is.
 */
export async function findOldestExecutionTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least(
      (select min(due_at) from automations where due_at <= ${now}),
      (select min(coalesce(retry_at, started_at)) from automation_executions
        where status = 'DISPATCHED' and (retry_at is null or retry_at <= ${now}))) as due`.execute(system);
  return rows[0]?.due ?? undefined;
}

/**
 * Ends the wait of a conversation for approvals: the calls are rejected, and the turn that waits is FAILED with this code. The next
 * message in it is an ordinary one.
 */
export async function updateWaitEnded(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  { code, message, now }: { code: string; message: string; now: Date },
): Promise<void> {
  await sql`
    with closed as (
      update approvals set status = 'rejected', decided_at = ${now}, decided_by = 'message'
      where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and status = 'pending'
    )
    update turns set status = 'failed', paused = null, error_code = ${code}, error_message = ${message}
    where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and paused is not null
      and not exists (select from conversations c where c.workspace_id = ${workspaceId} and c.id = ${conversationId}
        and c.turn_id is not null)`.execute(db);
}
