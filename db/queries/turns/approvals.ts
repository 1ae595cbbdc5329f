import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { Approvals, DB } from '../../../generated/db.ts';
import { approvalDecided } from '../../events.ts';
import type { StoredToolOrigin } from '../../stored/pausedRun.ts';
import { pausedAt } from '../conversations/pause.ts';

/** A call of a tool that a person decides. */
export type ApprovalRow = Selectable<Approvals>;

/** An approval as it is asked for. */
export interface ApprovalRequest {
  id: string;
  agent_id: string;
  tool_name: string;
  origin: StoredToolOrigin;
  input: Record<string, unknown>;
}

/** SQL statement: asks for approvals on behalf of a turn. */
export function insertingApprovals(
  workspaceId: string,
  turn: { conversationId: string; turnId: string },
  requests: readonly ApprovalRequest[],
  now: Date,
): RawBuilder<unknown> {
  return sql`insert into approvals (workspace_id, id, conversation_id, turn_id, agent_id, tool_name, origin, input, requested_at)
    select ${workspaceId}, id, ${turn.conversationId}, ${turn.turnId}, agent_id, tool_name, origin, input, ${now}
    from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb)
      as request (id uuid, agent_id uuid, tool_name text, origin jsonb, input jsonb)`;
}

/** Approvals by their ids. */
export function findApprovals(db: Kysely<DB>, workspaceId: string, ids: readonly string[]): Promise<ApprovalRow[]> {
  return db
    .selectFrom('approvals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .orderBy('requested_at')
    .orderBy('id')
    .execute();
}

/** Approvals of the conversation: those among the ids, decided or not, and all that are pending. */
export function selectConversationApprovals(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  ids: readonly string[],
): Promise<Pick<ApprovalRow, 'id' | 'status' | 'requested_at'>[]> {
  return db
    .selectFrom('approvals')
    .select(['id', 'status', 'requested_at'])
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId)
    .where(sql<boolean>`(id = any (${ids}::uuid[]) or status = 'pending')`)
    .execute();
}

/** Decides pending approvals. Earlier decisions stay: the first one counts. Returns the ids that were decided here. */
export async function decideApprovals(
  db: Kysely<DB>,
  workspaceId: string,
  decisions: { approved: readonly string[]; rejected: readonly string[] },
  by: 'message' | 'operator' | 'user',
  now: Date,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update approvals set status = case when id = any (${decisions.approved}::uuid[]) then 'approved' else 'rejected' end,
      decided_at = ${now}, decided_by = ${by}
    where workspace_id = ${workspaceId} and id = any (${[...decisions.approved, ...decisions.rejected]}::uuid[]) and status = 'pending'
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Marks an approved call as running. Returns true for one caller only, which must then make the call and store its output. */
export async function takeApproved(db: Kysely<DB>, workspaceId: string, id: string): Promise<boolean> {
  const result = await db
    .updateTable('approvals')
    .set({ status: 'running' })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'approved')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Stores the output of an approved call. */
export async function storeApprovedOutput(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  outcome: { text: string; isError: boolean },
): Promise<void> {
  await db
    .updateTable('approvals')
    .set({ status: 'done', output: outcome.text, is_error: outcome.isError })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute();
}

/** A deleted conversation is never continued, so there is nothing to decide. */
const conversationIsThere = sql<boolean>`exists (select from conversations c
  where c.workspace_id = approvals.workspace_id and c.id = approvals.conversation_id and c.deleted_at is null)`;

/** Calls that wait for a decision, of every workspace or of one, oldest first. `system` sees all workspaces. */
export async function selectPendingApprovals(
  system: Kysely<DB>,
  workspaceId: string | undefined,
): Promise<ApprovalRow[]> {
  let pending = system.selectFrom('approvals').selectAll().where('status', '=', 'pending').where(conversationIsThere);
  if (workspaceId !== undefined) pending = pending.where('workspace_id', '=', workspaceId);
  return await pending.orderBy('requested_at').orderBy('id').execute();
}

/**
 * An operator's decision on a pending approval; running services are told when it is committed. Answers with the approval as it is
 * then: one that was decided before keeps its decision. Undefined when there is none of this id.
 */
export async function decideAsOperator(
  trx: Transaction<DB>,
  id: string,
  decision: 'approved' | 'rejected',
  now: Date,
): Promise<(ApprovalRow & { decidedNow: boolean }) | undefined> {
  const found = await trx
    .selectFrom('approvals')
    .selectAll()
    .where('id', '=', id)
    .where(conversationIsThere)
    .forUpdate()
    .executeTakeFirst();
  if (!found) return undefined;
  const { workspace_id: workspaceId, conversation_id: conversationId } = found;
  const ids = { approved: decision === 'approved' ? [id] : [], rejected: decision === 'rejected' ? [id] : [] };
  const decided = await decideApprovals(trx, workspaceId, ids, 'operator', now);
  if (decided.length === 0) return { ...found, decidedNow: false };
  await approvalDecided.notify(trx, { workspaceId, conversationId });
  return { ...found, status: decision, decided_at: now, decided_by: 'operator', decidedNow: true };
}

/**
 * The decision of the end user on a pending approval of the conversation, made by a button; running services are told when it is committed.
 * Returns whether it was decided here: the first decision counts.
 */
export async function decideAsUser(
  trx: Transaction<DB>,
  { workspaceId, conversationId, id }: { workspaceId: string; conversationId: string; id: string },
  decision: 'approved' | 'rejected',
  now: Date,
): Promise<boolean> {
  const ids = { approved: decision === 'approved' ? [id] : [], rejected: decision === 'rejected' ? [id] : [] };
  const decided = await decideApprovals(trx, workspaceId, ids, 'user', now);
  if (decided.length === 0) return false;
  await approvalDecided.notify(trx, { workspaceId, conversationId });
  return true;
}

/** The work that a decision allows is looked for during this time after it. */
const DECIDED_HOURS = 24;
/** Attempts that may fail, since each of them pays for calls of models. The next message of the conversation continues it in any case. */
const MAX_FAILURES = 10;

/**
 * SQL query: conversations of all workspaces that can go on, and since when (`due`): a turn waits, all of its calls are decided, and no turn runs. It
 * finds decisions of operators, until the agent has answered them, and those of messages whose process died before the work began.
 */
function conversationsToContinue(now: Date): RawBuilder<unknown> {
  const since = new Date(now.getTime() - DECIDED_HOURS * 3_600_000);
  return sql`
    select c.workspace_id, c.id, max(a.decided_at) as due
    from approvals a
    join conversations c on c.workspace_id = a.workspace_id and c.id = a.conversation_id
    where a.decided_at > ${since} and (a.status = 'approved' or a.decided_by in ('operator', 'user'))
      and c.deleted_at is null and not ${pausedAt(now, 'c')} and not c.is_ended and c.turn_id is null
      and exists (select from turns t where t.workspace_id = a.workspace_id and t.id = a.turn_id and t.paused is not null)
      and not exists (select from approvals p where p.workspace_id = a.workspace_id and p.turn_id = a.turn_id and p.status = 'pending')
      and (select count(*) from turns f where f.workspace_id = c.workspace_id and f.conversation_id = c.id and f.kind = 'continuation'
        and f.status in ('failed', 'interrupted') and f.started_at >= a.decided_at) < ${MAX_FAILURES}
    group by c.workspace_id, c.id`;
}

/**
 * Conversations of all workspaces that can go on: of each workspace the one that waits longest, then of each the next, so that a
 * workspace with many delays no other.
 */
export async function findDecidedConversations(
  system: Kysely<DB>,
  now: Date,
  limit: number,
): Promise<{ workspaceId: string; conversationId: string }[]> {
  const { rows } = await sql<{ workspaceId: string; conversationId: string }>`
    select workspace_id as "workspaceId", id as "conversationId" from (${conversationsToContinue(now)}) as waiting
    order by row_number() over (partition by workspace_id order by due, id), due, id limit ${limit}`.execute(system);
  return rows;
}

/** Since when the conversation that waits longest can go on, of all workspaces; undefined when none can. */
export async function findOldestDecisionTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(due) as due from (${conversationsToContinue(now)}) as waiting`.execute(system);
  return rows[0]?.due ?? undefined;
}
