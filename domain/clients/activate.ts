import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type ClientRow, lockClient } from '../../db/queries/clients/clients.ts';
import {
  findCouponDuration,
  type InvoiceRequest,
  selectInvoiceRequests,
  updateCheckoutCompleted,
  updateInvoiceRequestExpired,
} from '../../db/queries/clients/invoiceRequests.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import type { DB } from '../../generated/db.ts';
import { returnRedemption } from '../billing/redemptions.ts';
import { addMonths } from './period.ts';
import { startPlan } from './subscription.ts';
import { requireSeats } from './users.ts';

/** Which client is opened, and on what. */
export interface Activation {
  workspaceId: string;
  clientId: string;
  /** Absent = the plan that it asked for. */
  planId?: string | undefined;
  now: Date;
}

/**
 * Opens a client that waits for a plan (`pending_onboarding`), since it has paid or will pay an invoice: on the plan that it asked for at the checkout,
 * with the coupon whose use that request holds, or on another plan, without one. Other requests of the client
 * have come to nothing: their coupons can be used by others. Returns undefined for a client that does not wait. Throws CLIENT_NOT_FOUND,
 * SEATS_LIMIT_REACHED, and PLAN_NOT_FOUND, also when it asked for none.
 */
export async function activateClient(
  trx: Transaction<DB>,
  { workspaceId, clientId, planId: given, now }: Activation,
): Promise<ClientRow | undefined> {
  const client = await lockClient(trx, workspaceId, clientId);
  if (!client) throw fault('CLIENT_NOT_FOUND');
  if (client.status !== 'pending_onboarding') return undefined;
  const requests = await selectInvoiceRequests(trx, workspaceId, clientId);
  const planId = given ?? requests[0]?.plan_id;
  if (planId === undefined) throw fault('PLAN_NOT_FOUND', 'The client has asked for no plan.');
  await requireSeats(trx, client, planId);
  const request = requests.find((each) => each.plan_id === planId);
  for (const each of requests) {
    if (each === request) await updateCheckoutCompleted(trx, each, now);
    else await endRequest(trx, each);
  }
  const coupon = request && (await couponOf(trx, request, now));
  return startPlan(trx, { client, plan: { id: planId }, status: 'active', coupon, key: 'activate', now });
}

async function endRequest(trx: Transaction<DB>, request: InvoiceRequest): Promise<void> {
  await updateInvoiceRequestExpired(trx, request);
  if (request.coupon_id !== null) await returnRedemption(trx, request.workspace_id, request.coupon_id);
}

/** The coupon of a request, and when it ends. The use of it is taken already. */
async function couponOf(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, plan_id: planId, coupon_id: id }: InvoiceRequest,
  now: Date,
): Promise<{ id: string; endsAt: Date | null } | undefined> {
  if (id === null) return undefined;
  const found = await findCouponDuration(trx, workspaceId, id, planId);
  if (!found) return undefined;
  const timeZone = (await findWorkspace(trx, workspaceId))?.time_zone ?? 'UTC';
  const months = found.duration === 'once' ? found.intervalMonths : found.months;
  return { id, endsAt: found.duration === 'forever' || months === null ? null : addMonths(now, months, timeZone) };
}
