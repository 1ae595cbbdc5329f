import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import {
  type ClientChange,
  type ClientKey,
  type ClientRow,
  hasClientChange,
  holdTerms,
  insertClientChange,
  lockClient,
  type SubscriptionTerms,
  updateClientRow,
} from '../../db/queries/clients/clients.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import type { DB } from '../../generated/db.ts';
import { type SubscriptionEvent, TRANSITIONS } from './transitions.ts';

/** What every change of a subscription is told. */
export interface SubscriptionChange {
  client: ClientKey;
  /** What causes it: the same cause changes a client once. At most 250 characters. */
  key: string;
  now: Date;
}

/** A client in the hands of a change: locked, with its workspace's time zone. */
export interface HeldClient {
  trx: Transaction<DB>;
  row: ClientRow;
  timeZone: string;
  key: string;
  now: Date;
}

/**
 * Makes a change of a subscription once: locks the client, and lets `apply` say what changes unless the key was used before or the status of the
 * client refuses the event. Returns the client as it is then. `apply` gets the status that follows; it may return undefined to change
 * nothing, which does not use up the key. Throws CLIENT_NOT_FOUND.
 */
export async function changeSubscription(
  trx: Transaction<DB>,
  event: SubscriptionEvent,
  { client, key, now }: SubscriptionChange,
  apply: (
    held: HeldClient,
    status: ClientRow['status'],
  ) => Promise<ClientChange | undefined> | ClientChange | undefined,
): Promise<ClientRow> {
  const row = await lockClient(trx, client.workspace_id, client.id);
  if (!row) throw fault('CLIENT_NOT_FOUND');
  const status = TRANSITIONS[event][row.status];
  if (status === undefined || (await hasClientChange(trx, row, key))) return row;
  const timeZone = (await findWorkspace(trx, row.workspace_id))?.time_zone ?? 'UTC';
  const change = await apply({ trx, row, timeZone, key, now }, status);
  if (!change) return row;
  const changed = await updateClientRow(trx, row, { status, ...change, updated_at: now });
  await insertClientChange(trx, {
    workspace_id: row.workspace_id,
    client_id: row.id,
    key,
    kind: event,
    status_before: row.status,
    status_after: changed.status,
    plan_id: changed.plan_id,
    created_at: now,
  });
  return changed;
}

/** The terms of a plan that a client is to have. Throws PLAN_NOT_FOUND, also for a deleted one. */
export async function heldPlan({ trx, row }: HeldClient, planId: string): Promise<SubscriptionTerms> {
  const plan = await holdTerms(trx, row.workspace_id, planId);
  if (!plan) throw fault('PLAN_NOT_FOUND');
  return plan;
}

/** The terms of the plan that the client has; undefined without one. */
export async function presentPlan({ trx, row }: HeldClient): Promise<SubscriptionTerms | undefined> {
  return row.plan_id === null ? undefined : await holdTerms(trx, row.workspace_id, row.plan_id, { withDeleted: true });
}
