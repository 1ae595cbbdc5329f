import { newId } from '../../core/ids.ts';
import type { PlanRow } from '../../db/queries/billing/plans.ts';
import { lockClient } from '../../db/queries/clients/clients.ts';
import type { HubRow } from '../../db/queries/hubs/hubs.ts';
import { insertCheckout } from '../../db/queries/payments/checkouts.ts';
import { inTransaction } from '../../db/transaction.ts';
import { extraCreditsInPack } from '../billing/planTerms.ts';
import { discounted, redeemCoupon } from '../billing/redemptions.ts';
import { addClient } from '../clients/addClient.ts';
import { startPlan } from '../clients/subscription.ts';
import type { WorkspaceContext } from '../context.ts';
import { queueMail } from '../mail/queueMail.ts';
import type { Purchase, PurchaseStep } from './checkout.ts';

/**
 * A purchase of a hub without a provider: the client waits (`pending_onboarding`) with its plan remembered, and gets a receipt of its request. An
 * operator opens it. A client that exists stays as it is.
 */
export function buyByInvoice(context: WorkspaceContext, plan: PlanRow, purchase: Purchase): Promise<PurchaseStep> {
  const { db, workspaceId, clock } = context;
  const { couponCode, email, name, kind } = purchase;
  const now = clock.now();
  return unlessTaken(() =>
    inTransaction(db, async (trx) => {
      const isPlan = kind === 'plan';
      const coupon =
        isPlan && couponCode !== undefined
          ? await redeemCoupon(trx, workspaceId, { code: couponCode, planId: plan.id, now })
          : undefined;
      const price = isPlan ? plan.price_cents : (plan.extra_credits_price_cents ?? 0);
      const priceCents = coupon ? discounted(price, coupon) : price;
      const clientId = purchase.clientId ?? (await newClient({ ...context, db: trx }, purchase)).id;
      const id = newId();
      await insertCheckout(trx, {
        workspace_id: workspaceId,
        id,
        plan_id: plan.id,
        client_id: clientId,
        coupon_id: coupon?.id ?? null,
        kind,
        email,
        name,
        workspace_name: purchase.workspaceName,
        is_of_stranger: purchase.clientId === undefined,
        status: 'invoice',
        credits: isPlan ? null : (extraCreditsInPack(plan) ?? null),
        amount_cents: priceCents,
        created_at: now,
        expires_at: now,
      });
      await queueMail(trx, context, {
        workspaceId,
        kind: 'invoice_request',
        to: { email, name },
        key: `invoice_request:${id}`,
        data: {
          clientName: purchase.workspaceName,
          planName: plan.name,
          priceCents,
          currency: plan.currency,
          billingIntervalMonths: isPlan && plan.billing_type === 'recurring' ? plan.billing_interval_months : null,
          ...(coupon ? { couponCode: coupon.code } : {}),
        },
      });
      return { kind: 'invoice' as const };
    }),
  );
}

/**
 * A free plan begins at once in a public hub, and in one whose visitors may sign up by themselves. In another one the client waits for an
 * operator. A client that exists changes to it.
 */
export function takeFreePlan(
  context: WorkspaceContext,
  hub: HubRow,
  plan: PlanRow,
  purchase: Purchase,
): Promise<PurchaseStep> {
  const { db, workspaceId, clock } = context;
  const isOpen = hub.access_type === 'public' || hub.self_service_enabled;
  if (!isOpen) return buyByInvoice(context, plan, { ...purchase, couponCode: undefined });
  const now = clock.now();
  return unlessTaken(() =>
    inTransaction(db, async (trx) => {
      if (purchase.clientId === undefined) {
        const client = await newClient({ ...context, db: trx }, purchase, plan.id);
        await insertCheckout(trx, {
          workspace_id: workspaceId,
          id: newId(),
          plan_id: plan.id,
          client_id: client.id,
          kind: 'plan',
          email: purchase.email,
          name: purchase.name,
          workspace_name: purchase.workspaceName,
          is_of_stranger: true,
          status: 'completed',
          amount_cents: 0,
          created_at: now,
          expires_at: now,
          completed_at: now,
        });
        return { kind: 'free' as const };
      }
      const client = await lockClient(trx, workspaceId, purchase.clientId);
      // Taken twice, it begins once.
      if (client && client.plan_id !== plan.id)
        await startPlan(trx, { client, plan, status: 'active', now, key: `free:${newId()}` });
      return { kind: 'free' as const };
    }),
  );
}

function newClient(context: WorkspaceContext, { email, name, workspaceName }: Purchase, planId?: string) {
  const users = [{ name, email, role: 'admin' as const }];
  const plan = planId === undefined ? null : { id: planId };
  return addClient(context, { name: workspaceName, users, plan, sendInvitations: planId !== undefined });
}

/** Another client got the name meanwhile. */
async function unlessTaken(work: () => Promise<PurchaseStep>): Promise<PurchaseStep> {
  try {
    return await work();
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'clients_name_key')
      return { kind: 'refused', reason: 'taken' };
    throw error;
  }
}
