import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type ClientRow, holdTerms, insertClient, type SubscriptionTerms } from '../../db/queries/clients/clients.ts';
import { type ClientUserRow, insertClientUsers } from '../../db/queries/clients/clientUsers.ts';
import { findHub } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import { openAccount } from '../credits/credits.ts';
import { type InvitationContext, inviteUser } from './invitations.ts';
import { startPlan } from './subscription.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A new client, with its first users. */
export interface NewClient {
  name: string;
  /** At least one, each email once whatever its case. */
  users: readonly Pick<ClientUserRow, 'name' | 'email' | 'role'>[];
  /** The plan to start on, `trial` for the hub's trial plan, null for none: then the client waits for one. */
  plan: { id: string } | 'trial' | null;
  /** Whether the invitations go out by mail. They are made in any case. */
  sendInvitations: boolean;
  /** Included credits to start with; absent = the plan's. */
  credits?: number | undefined;
  /** The end of the first period, in the future; absent = as the plan or the trial says. */
  periodEnd?: Date | undefined;
}

/**
 * Creates a client with its users and their invitations, and starts its plan. Throws PLAN_NOT_FOUND, TRIAL_NOT_ENABLED, SEATS_LIMIT_REACHED, and
 * CLIENT_NAME_TAKEN by clients_name_key (db/errors.ts).
 */
export function addClient(context: InvitationContext, client: NewClient): Promise<ClientRow> {
  const { db, workspaceId, clock } = context;
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    const start = await startOf(trx, workspaceId, client, now);
    if (start && client.users.length > start.plan.seats) throw fault('SEATS_LIMIT_REACHED');
    const row = await insertClient(trx, {
      workspace_id: workspaceId,
      id: newId(),
      name: client.name,
      status: 'pending_onboarding',
      created_at: now,
      updated_at: now,
    });
    await openAccount(trx, workspaceId, row.id, { isUnlimited: false, mayUseExtra: false });
    await addUsers(trx, context, row, client);
    if (!start) return row;
    const { plan, status, periodEnd } = start;
    return startPlan(trx, { client: row, key: 'create', now, plan, status, credits: client.credits, periodEnd });
  });
}

async function addUsers(
  trx: Transaction<DB>,
  context: InvitationContext,
  client: ClientRow,
  { users, sendInvitations: isMailed }: NewClient,
): Promise<void> {
  const { workspace_id, id: client_id, created_at } = client;
  const rows = users.map(({ name, email, role }) => ({
    workspace_id,
    client_id,
    id: newId(),
    name,
    email,
    role,
    created_at,
    updated_at: created_at,
  }));
  for (const user of await insertClientUsers(trx, rows)) await inviteUser(trx, context, { client, user, isMailed });
}

/** What the client starts on; undefined without a plan. */
async function startOf(
  trx: Transaction<DB>,
  workspaceId: string,
  { plan: wanted, periodEnd }: NewClient,
  now: Date,
): Promise<{ plan: SubscriptionTerms; status: 'active' | 'trialing'; periodEnd?: Date | undefined } | undefined> {
  if (wanted === null) return undefined;
  if (wanted !== 'trial') {
    const plan = await holdTerms(trx, workspaceId, wanted.id);
    if (!plan) throw fault('PLAN_NOT_FOUND');
    return { plan, status: 'active', periodEnd };
  }
  const { trial_plan_id: id = null, trial_days: days = null } = (await findHub(trx, workspaceId)) ?? {};
  const plan = id === null ? undefined : await holdTerms(trx, workspaceId, id);
  if (!plan || days === null) throw fault('TRIAL_NOT_ENABLED');
  return { plan, status: 'trialing', periodEnd: periodEnd ?? new Date(now.getTime() + days * DAY_MS) };
}
