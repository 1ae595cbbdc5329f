import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { CouponRow } from '../../db/queries/billing/coupons.ts';
import type { PlanRow } from '../../db/queries/billing/plans.ts';
import { findClient } from '../../db/queries/clients/clients.ts';
import { findHub, type HubRow } from '../../db/queries/hubs/hubs.ts';
import {
  type CheckoutRow,
  countOfStrangers,
  findOpenCheckout,
  insertCheckout,
  updateCheckoutRow,
} from '../../db/queries/payments/checkouts.ts';
import { selectNamesLike } from '../../db/queries/payments/grants.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PaymentProvider } from '../../integrations/payments/provider.ts';
import { currencyDigits } from '../billing/currencies.ts';
import { extraCreditsInPack } from '../billing/planTerms.ts';
import { discounted, redeemCoupon } from '../billing/redemptions.ts';
import type { WorkspaceContext } from '../context.ts';
import { hubUrlOf } from '../hubs/hubUrl.ts';
import { endCheckout } from './completeCheckout.ts';
import { buyByInvoice, takeFreePlan } from './invoiceCheckout.ts';
import { mirrorCoupon } from './mirrorCoupon.ts';
import { mirrorPlan } from './mirrorPlan.ts';
import { asFault, paymentsOf } from './paymentsOf.ts';

/** The page of the provider is open for so long, and the coupon is held. Stripe takes 30 minutes to 24 hours. */
const OPEN_MS = 2 * 60 * 60 * 1000;

/** What somebody wants to buy. */
export interface Purchase {
  planId: string;
  /** Checked by the caller, as are the names. */
  email: string;
  name: string;
  /** The name of the client that comes of it; without effect for one that exists. */
  workspaceName: string;
  couponCode?: string | undefined;
  /** The client that buys, for a signed-in user; absent: a new one. */
  clientId?: string | undefined;
  kind: 'plan' | 'extra_credits';
}

/** Purchases that strangers may begin in one hub, and with one email, within a day: each may make a client, a mail and the hold of a coupon. */
export const MAX_OF_STRANGERS = { all: 2_000, ofEmail: 10 };
const DAY_MS = 24 * 60 * 60 * 1000;
const STRANGERS_WAIT_SECONDS = 3_600;

/** How a purchase goes on. */
export type PurchaseStep =
  | { kind: 'redirect'; url: string }
  | { kind: 'invoice' }
  | { kind: 'free' }
  /** `subscribed`: the client has a subscription. `taken`: another client has the name. `busy`: the same purchase is being begun; try again. */
  | { kind: 'refused'; reason: 'subscribed' | 'taken' | 'busy' };

/**
 * Begins a purchase: a page of the provider, on which the buyer pays; a request for an invoice, for a hub without a provider; or a free plan, which
 * begins at once. No paid plan begins by it: only what the provider tells, or an operator, begins one. The same purchase begun twice is one.
 * Throws PLAN_NOT_FOUND, CLIENT_NOT_FOUND, COUPON_NOT_FOUND, COUPON_RULE_VIOLATED, PAYMENT_PROVIDER_ERROR, and RATE_LIMITED for strangers
 * who have begun very many; then nothing is left.
 */
export async function beginCheckout(context: WorkspaceContext, purchase: Purchase): Promise<PurchaseStep> {
  const { db, workspaceId, runtime } = context;
  const hub = await findHub(db, workspaceId);
  const plan = await mirrorPlanForSale(context, hub, purchase);
  const hubUrl = hubUrlOf(runtime, hub?.subdomain ?? null);
  if (!hub || hubUrl === null) throw fault('PLAN_NOT_FOUND');
  const refusal = await refusalOf(context, purchase);
  if (refusal) return refusal;
  if (purchase.clientId === undefined) await refuseFlood(context, purchase);
  if (purchase.kind === 'plan' && plan.price_cents === 0) return takeFreePlan(context, hub, plan, purchase);
  const provider = paymentsOf(context, hub);
  if (!provider) return buyByInvoice(context, plan, purchase);
  const present =
    purchase.kind === 'plan' ? await findOpenCheckout(db, workspaceId, buyerOfPurchase(purchase)) : undefined;
  if (present) {
    const step = await goOnWith(context, provider, present, purchase);
    if (step) return step;
  }
  const opened = await openCheckout(context, plan, purchase);
  if (!opened) return { kind: 'refused', reason: 'busy' };
  return openPage(context, provider, { hub, hubUrl, plan, ...opened });
}

/** The plan, with its objects at the provider if the hub has one. Throws PLAN_NOT_FOUND, also for an inactive plan and one without extra credits. */
async function mirrorPlanForSale(
  context: WorkspaceContext,
  hub: HubRow | undefined,
  { planId, kind }: Purchase,
): Promise<PlanRow> {
  const plan = await mirrorPlan({ ...context }, planId);
  const isSold = kind === 'plan' ? plan.status === 'active' : extraCreditsInPack(plan) !== undefined;
  if (!isSold || !hub) throw fault('PLAN_NOT_FOUND');
  return plan;
}

async function refuseFlood({ db, workspaceId, clock }: WorkspaceContext, { email }: Purchase): Promise<void> {
  const since = new Date(clock.now().getTime() - DAY_MS);
  const begun = await countOfStrangers(db, workspaceId, { email, since });
  if (begun.all < MAX_OF_STRANGERS.all && begun.ofEmail < MAX_OF_STRANGERS.ofEmail) return;
  throw fault('RATE_LIMITED', 'Too many purchases were begun today.', {
    headers: { 'Retry-After': String(STRANGERS_WAIT_SECONDS) },
  });
}

const buyerOfPurchase = ({ clientId, email, workspaceName }: Purchase) =>
  clientId === undefined ? { email, workspaceName } : { clientId };

/** Why the buyer may not buy this. Throws CLIENT_NOT_FOUND, and PLAN_NOT_FOUND for extra credits of a plan that the client has not. */
async function refusalOf(
  { db, workspaceId }: WorkspaceContext,
  { clientId, workspaceName, kind, planId }: Purchase,
): Promise<PurchaseStep | undefined> {
  if (clientId === undefined) {
    if (kind === 'extra_credits') throw fault('CLIENT_NOT_FOUND');
    const names = await selectNamesLike(db, workspaceId, workspaceName);
    return names.has(workspaceName.toLowerCase()) ? { kind: 'refused', reason: 'taken' } : undefined;
  }
  const client = await findClient(db, workspaceId, clientId);
  if (!client) throw fault('CLIENT_NOT_FOUND');
  if (kind === 'extra_credits') {
    if (client.plan_id !== planId) throw fault('PLAN_NOT_FOUND');
    return undefined;
  }
  const isSubscribed = client.provider_subscription_id !== null && client.status !== 'canceled';
  return isSubscribed ? { kind: 'refused', reason: 'subscribed' } : undefined;
}

/** A checkout that the buyer has begun before: the same purchase goes on where it was, another one takes its place. */
async function goOnWith(
  context: WorkspaceContext,
  provider: PaymentProvider,
  row: CheckoutRow,
  { planId, couponCode }: Purchase,
): Promise<PurchaseStep | undefined> {
  const { provider_session_id: sessionId, provider_session_url: url, expires_at: expiresAt } = row;
  // Its page is being made, or the process that made it has died.
  if (sessionId === null || url === null) return { kind: 'refused', reason: 'busy' };
  try {
    const isSame = row.plan_id === planId && row.coupon_id === null && couponCode === undefined;
    const state = isSame ? await provider.findCheckout(sessionId) : await provider.expireCheckout(newId(), sessionId);
    // It was paid: what the provider tells of it is on its way.
    if (state?.status === 'complete') return { kind: 'refused', reason: 'subscribed' };
    if (state?.status === 'open' && state.url !== null && expiresAt > context.clock.now())
      return { kind: 'redirect', url };
  } catch (error) {
    throw asFault(error);
  }
  await endCheckout(context, row.id);
  return undefined;
}

/** Stores the checkout, and takes its use of the coupon. Undefined when the buyer has begun another one at the same moment. */
async function openCheckout(
  { db, workspaceId, clock }: WorkspaceContext,
  plan: PlanRow,
  purchase: Purchase,
): Promise<{ row: CheckoutRow; coupon: CouponRow | null } | undefined> {
  const now = clock.now();
  const { couponCode, clientId, kind, email, name, workspaceName } = purchase;
  try {
    return await inTransaction(db, async (trx) => {
      const isPlan = kind === 'plan';
      const coupon =
        isPlan && couponCode !== undefined
          ? await redeemCoupon(trx, workspaceId, { code: couponCode, planId: plan.id, now })
          : undefined;
      const price = isPlan ? plan.price_cents : (plan.extra_credits_price_cents ?? 0);
      const row = await insertCheckout(trx, {
        workspace_id: workspaceId,
        id: newId(),
        plan_id: plan.id,
        client_id: clientId ?? null,
        coupon_id: coupon?.id ?? null,
        kind,
        email,
        name,
        workspace_name: workspaceName,
        is_of_stranger: clientId === undefined,
        credits: isPlan ? null : (extraCreditsInPack(plan) ?? null),
        amount_cents: coupon ? discounted(price, coupon) : price,
        created_at: now,
        expires_at: new Date(now.getTime() + OPEN_MS),
      });
      return { row, coupon: coupon ?? null };
    });
  } catch (error) {
    const { constraint } = error as { constraint?: string };
    if (constraint === 'checkouts_open_client' || constraint === 'checkouts_open_buyer') return undefined;
    throw error;
  }
}

/** Makes the page. When that fails, the checkout has ended and its coupon is returned; a page whose answer was lost is known to nobody. */
async function openPage(
  context: WorkspaceContext,
  provider: PaymentProvider,
  sale: { hub: HubRow; hubUrl: string; plan: PlanRow; row: CheckoutRow; coupon: CouponRow | null },
): Promise<PurchaseStep> {
  const { hub, hubUrl, plan, row, coupon } = sale;
  const { db, workspaceId } = context;
  const digits = currencyDigits(plan.currency) ?? 2;
  const money = { currency: plan.currency, currencyDigits: digits };
  try {
    const client = row.client_id === null ? undefined : await findClient(db, workspaceId, row.client_id);
    const couponId = coupon && (await mirrorCoupon(context, coupon));
    const { sessionId, url } = await provider.createCheckout(row.id, {
      ...money,
      checkoutId: row.id,
      workspaceId,
      email: row.email,
      customerId: client?.provider_customer_id ?? null,
      item:
        row.kind === 'extra_credits'
          ? {
              kind: 'extra_credits',
              name: `${plan.name}: ${row.credits} credits`,
              amountCents: row.amount_cents,
              ...money,
            }
          : { kind: plan.billing_type, priceId: plan.provider_price_id ?? '' },
      totalCents: row.amount_cents,
      couponId,
      successUrl: `${hubUrl}/thank-you`,
      cancelUrl: row.kind === 'plan' ? `${hubUrl}/checkout/${plan.id}` : `${hubUrl}/`,
      brand: { name: hub.name, color: hub.primary_color },
      expiresAt: row.expires_at,
    });
    await updateCheckoutRow(db, row, { provider_session_id: sessionId, provider_session_url: url });
    return { kind: 'redirect', url };
  } catch (error) {
    await endCheckout(context, row.id).catch(() => undefined);
    throw asFault(error);
  }
}
