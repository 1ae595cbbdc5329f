import type { Transaction } from 'kysely';
import { cutText } from '../../core/text.ts';
import { findCoupon } from '../../db/queries/billing/coupons.ts';
import { type ClientRow, lockClient } from '../../db/queries/clients/clients.ts';
import { type CheckoutRow, lockCheckout, updateCheckoutRow } from '../../db/queries/payments/checkouts.ts';
import { selectNamesLike } from '../../db/queries/payments/grants.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { CheckoutState } from '../../integrations/payments/provider.ts';
import { returnRedemption } from '../billing/redemptions.ts';
import { addClient } from '../clients/addClient.ts';
import { addMonths } from '../clients/period.ts';
import { startPlan } from '../clients/subscription.ts';
import type { WorkspaceContext } from '../context.ts';
import { grantCredits } from '../credits/credits.ts';
import { APPLIED, type EventOutcome, grantKeyOf, ignoredEvent } from './grantKeys.ts';

/** Names of clients are no longer than this. */
const MAX_NAME = 150;

/** A checkout that came to nothing: its coupon can be used by others. Does nothing to one that has ended. */
export function endCheckout({ db, workspaceId }: WorkspaceContext, checkoutId: string): Promise<EventOutcome> {
  return inTransaction(db, async (trx) => {
    const row = await lockCheckout(trx, workspaceId, checkoutId);
    if (row?.status !== 'open') return ignoredEvent('The checkout has ended.');
    await updateCheckoutRow(trx, row, { status: 'expired' });
    if (row.coupon_id !== null) await returnRedemption(trx, workspaceId, row.coupon_id);
    return APPLIED;
  });
}

/** A single payment was made: a plan that is paid once begins, or the client gets the credits that it bought. */
export function completePayment(context: WorkspaceContext, { checkoutId }: CheckoutState): Promise<EventOutcome> {
  const { db, workspaceId, clock } = context;
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    const row = checkoutId === null ? undefined : await lockCheckout(trx, workspaceId, checkoutId);
    if (!row) return ignoredEvent('It is no checkout of this hub.');
    if (row.status === 'completed') return APPLIED;
    const client = await buyerOf(trx, context, row);
    if (!client) return ignoredEvent('The client was deleted.');
    const key = grantKeyOf.checkout(row.id);
    if (row.kind === 'plan') {
      const coupon = await couponOf(trx, row, { now, periodEnd: null });
      const plan = { id: row.plan_id };
      await startPlan(trx, { client, key, now, plan, status: 'active', ...(coupon ? { coupon } : {}) });
    } else {
      const lot = { workspaceId, clientId: client.id, key, now, expiresAt: null };
      await grantCredits(trx, { ...lot, source: 'extra', amount: row.credits ?? 0 });
    }
    await markCompleted(trx, row, client.id, now);
    return APPLIED;
  });
}

/** The checkout has become a purchase of the client. */
export async function markCompleted(
  trx: Transaction<DB>,
  row: CheckoutRow,
  clientId: string,
  now: Date,
): Promise<void> {
  await updateCheckoutRow(trx, row, { status: 'completed', client_id: clientId, completed_at: now });
}

/** The client that has bought: the one that began the checkout, or a new one. Undefined when it was deleted meanwhile. */
export async function buyerOf(
  trx: Transaction<DB>,
  context: WorkspaceContext,
  row: CheckoutRow,
): Promise<ClientRow | undefined> {
  if (row.client_id !== null) return lockClient(trx, row.workspace_id, row.client_id);
  const users = [{ name: row.name, email: row.email, role: 'admin' as const }];
  const name = await freeName(trx, row);
  return addClient({ ...context, db: trx }, { name, users, plan: null, sendInvitations: true });
}

/** A buyer has paid: another client's name must not stop it. The second one of a name is `Acme 2`. */
async function freeName(trx: Transaction<DB>, { workspace_id, workspace_name }: CheckoutRow): Promise<string> {
  const base = cutText(workspace_name, MAX_NAME - 6);
  const taken = await selectNamesLike(trx, workspace_id, base);
  if (!taken.has(workspace_name.toLowerCase())) return workspace_name;
  let number = 2;
  while (taken.has(`${base} ${number}`.toLowerCase())) number += 1;
  return `${base} ${number}`;
}

/** The coupon of a checkout, and when its discount ends: null = not before the subscription does. */
export async function couponOf(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, coupon_id: couponId }: CheckoutRow,
  { now, periodEnd }: { now: Date; periodEnd: Date | null },
): Promise<{ id: string; endsAt: Date | null } | undefined> {
  if (couponId === null) return undefined;
  const coupon = await findCoupon(trx, workspaceId, couponId);
  const months = coupon?.duration_months ?? null;
  if (coupon?.duration === 'once') return { id: couponId, endsAt: periodEnd };
  // The provider counts in UTC.
  return { id: couponId, endsAt: months === null ? null : addMonths(now, months, 'UTC') };
}
