import type { Insertable, Kysely, Selectable, Transaction, Updateable } from 'kysely';
import type { AutomationExecutions, Automations, DB } from '../../../generated/db.ts';
import { newestFirst, type Page, type PageOf, selectPage } from '../shared/page.ts';
import { removePublicAddresses } from '../workspaces/publicAddresses.ts';

/** Something that an agent does by itself. */
export type AutomationRow = Selectable<Automations>;

function automations(db: Kysely<DB>, workspaceId: string) {
  return db
    .selectFrom('automations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null);
}

/** The automations of an agent, newest first. */
export function selectAutomations(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<AutomationRow[]> {
  return newestFirst(automations(db, workspaceId).where('agent_id', '=', agentId)).execute();
}

/** The automations of a workspace, or of all, newest first. `system` sees all workspaces. */
export async function selectAutomationsAnywhere(
  system: Kysely<DB>,
  workspaceId: string | undefined,
): Promise<AutomationRow[]> {
  let query = newestFirst(system.selectFrom('automations').selectAll().where('deleted_at', 'is', null));
  if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId);
  return await query.execute();
}

/** The automation with this id, whichever workspace it is of. `system` sees all workspaces. */
export async function findAutomationAnywhere(system: Kysely<DB>, id: string): Promise<AutomationRow | undefined> {
  const query = system.selectFrom('automations').selectAll().where('id', '=', id).where('deleted_at', 'is', null);
  return await query.executeTakeFirst();
}

/** One automation, if it exists; `agentId` = of this agent only. */
export function findAutomation(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  agentId?: string,
): Promise<AutomationRow | undefined> {
  return automation(db, workspaceId, id, agentId).executeTakeFirst();
}

function automation(db: Kysely<DB>, workspaceId: string, id: string, agentId: string | undefined) {
  const found = automations(db, workspaceId).where('id', '=', id);
  return agentId === undefined ? found : found.where('agent_id', '=', agentId);
}

/** The same automation, locked until the transaction ends: changes take turns with each other and with slots that come due. */
export function lockAutomation(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  agentId?: string,
): Promise<AutomationRow | undefined> {
  return automation(trx, workspaceId, id, agentId).forNoKeyUpdate().executeTakeFirst();
}

/** Stores an automation and returns it. Fails on `automations_name_key` when the agent has one of the name already. */
export function insertAutomation(db: Kysely<DB>, row: Insertable<Automations>): Promise<AutomationRow> {
  return db.insertInto('automations').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Changes an automation and returns it; undefined when it does not exist. Fails on `automations_name_key` when the new name is taken. */
export function updateAutomationRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<Automations>,
): Promise<AutomationRow | undefined> {
  return db
    .updateTable('automations')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** What an automation that is deleted has no more: nothing starts it, and its secrets are gone. */
const ENDED = { next_run_at: null, due_at: null, trigger_secrets: null };

/** Deletes an automation for the API, with its schedule, its addresses and its secrets. Returns it; undefined when there is none. */
export async function softDeleteAutomation(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<AutomationRow | undefined> {
  const row = await updateAutomationRow(trx, workspaceId, id, { ...ENDED, deleted_at: now });
  if (row) await removePublicAddresses(trx, workspaceId, id);
  return row;
}

/** Deletes all automations of an agent in the same way, and returns them. */
export async function softDeleteAutomationsOf(
  trx: Transaction<DB>,
  workspaceId: string,
  agentId: string,
  now: Date,
): Promise<AutomationRow[]> {
  const rows = await trx
    .updateTable('automations')
    .set({ ...ENDED, deleted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute();
  for (const { id } of rows) await removePublicAddresses(trx, workspaceId, id);
  return rows;
}

/** An execution as lists show it. */
export type ListedExecution = Pick<
  Selectable<AutomationExecutions>,
  'id' | 'status' | 'triggered_by' | 'started_at' | 'completed_at' | 'error_message'
>;

/** Where an execution is. */
export type ExecutionStatus = Selectable<AutomationExecutions>['status'];

/** A page of the executions of an automation, the one that was dispatched last first. */
export function selectExecutions(
  db: Kysely<DB>,
  workspaceId: string,
  automationId: string,
  { status }: { status: ExecutionStatus | undefined },
  page: Page,
): Promise<PageOf<ListedExecution>> {
  let matching = db
    .selectFrom('automation_executions')
    .where('workspace_id', '=', workspaceId)
    .where('automation_id', '=', automationId);
  if (status !== undefined) matching = matching.where('status', '=', status);
  return selectPage(
    matching,
    (query) =>
      query
        .select(['id', 'status', 'triggered_by', 'started_at', 'completed_at', 'error_message'])
        .orderBy('started_at', 'desc')
        .orderBy('id', 'desc'),
    page,
  );
}

/** For how long a sender's key stands for the execution that it began. */
const KEY_MS = 24 * 3_600_000;

/** The execution that a request with this key has begun within 24 hours before `now`. */
export function findExecutionOfKey(
  db: Kysely<DB>,
  workspaceId: string,
  automationId: string,
  requestKey: Buffer,
  now: Date,
): Promise<Selectable<AutomationExecutions> | undefined> {
  return db
    .selectFrom('automation_executions')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('automation_id', '=', automationId)
    .where('request_key', '=', requestKey)
    .where('started_at', '>', new Date(now.getTime() - KEY_MS))
    .executeTakeFirst();
}
