import { newId } from '../../core/ids.ts';
import { findClient } from '../../db/queries/clients/clients.ts';
import type { PaymentIntentRow } from '../../db/queries/payments/intents.ts';
import type { PaymentProvider } from '../../integrations/payments/provider.ts';
import { findMirroredPlan, planObjectsOf } from './mirror.ts';
import type { PaymentContext } from './paymentsOf.ts';

/** What an intent is about: the table of its subject, or objects of an account that the hub has left. */
export type IntentKind =
  | 'plan'
  | 'coupon'
  | 'subscription'
  | 'plan_now'
  | 'plan_later'
  | 'retired_plan'
  | 'retired_coupon';

/**
 * Brings the provider to what our rows say of the subject of an intent, whatever became of the intent: objects that no row names are
 * archived, those that a row names are as the row says. Throws PaymentProviderError.
 */
export async function healIntent(context: PaymentContext, provider: PaymentProvider, intent: Open): Promise<void> {
  switch (intent.kind as IntentKind) {
    case 'plan':
      return healPlan(context, provider, intent);
    case 'coupon':
      return healCoupon(context, provider, intent);
    case 'subscription':
      return healSubscription(context, provider, intent);
    case 'plan_now':
    case 'plan_later':
      return healSubscribedPlan(context, provider, intent);
    case 'retired_plan': {
      const { productId = '', priceId = '', paymentLinkId = '' } = intent.provider_ids ?? {};
      return provider.archivePlan(newId(), { productId, priceId, paymentLinkId });
    }
    case 'retired_coupon': {
      const { couponId = '', promotionCodeId = '' } = intent.provider_ids ?? {};
      return provider.deleteCoupon(newId(), { couponId, promotionCodeId });
    }
  }
}

type Open = Pick<PaymentIntentRow, 'id' | 'kind' | 'subject_id' | 'created_at'> & {
  provider_ids?: Record<string, string>;
};

async function healPlan({ db, workspaceId }: PaymentContext, provider: PaymentProvider, intent: Open): Promise<void> {
  const row = await findMirroredPlan(db, workspaceId, intent.subject_id);
  const objects = row && planObjectsOf(row);
  const keep = objects ? [objects.productId, objects.priceId, objects.paymentLinkId] : [];
  await provider.undoPlan(intent.id, intent.created_at, keep);
  if (!row || !objects) return;
  // A key of its own: the provider repeats its first answer to the same key.
  if (row.deleted_at) await provider.archivePlan(newId(), objects);
  else await provider.restorePlan(newId(), objects, { ...row, isActive: row.status === 'active' });
}

async function healCoupon({ db, workspaceId }: PaymentContext, provider: PaymentProvider, intent: Open): Promise<void> {
  const row = await db
    .selectFrom('coupons')
    .select(['provider_coupon_id', 'provider_promotion_code_id', 'active', 'deleted_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', intent.subject_id)
    .executeTakeFirst();
  const { provider_coupon_id: couponId, provider_promotion_code_id: promotionCodeId } = row ?? {};
  if (!row || !couponId || !promotionCodeId) await provider.undoCoupon(intent.id);
  else if (row.deleted_at) await provider.deleteCoupon(newId(), { couponId, promotionCodeId });
  else await provider.setCouponActive(newId(), promotionCodeId, row.active);
}

/** Only a suspended client is cancelled by us at the end of its period. */
async function healSubscription(
  { db, workspaceId }: PaymentContext,
  provider: PaymentProvider,
  intent: Open,
): Promise<void> {
  const client = await findClient(db, workspaceId, intent.subject_id);
  const id = client?.provider_subscription_id;
  if (!client || !id) return;
  const present = await provider.findSubscription(id);
  if (!present || present.status === 'canceled') return;
  if (client.status === 'suspended') await provider.cancelAtPeriodEnd(newId(), id);
  else if (present.cancelAtPeriodEnd || present.isPaused) await provider.resume(newId(), id);
}

/**
 * The price there is that of the plan which comes next: the pending one, or the present one. What `plan_now` has charged or credited is charged or credited
 * the other way round.
 */
async function healSubscribedPlan(
  { db, workspaceId }: PaymentContext,
  provider: PaymentProvider,
  { subject_id: clientId, kind }: Open,
): Promise<void> {
  const client = await findClient(db, workspaceId, clientId);
  const id = client?.provider_subscription_id;
  if (!client || !id) return;
  const found = await provider.findSubscription(id);
  if (!found || found.status === 'canceled' || found.status === 'incomplete_expired') return;
  const priceOf = async (planId: string | null) =>
    planId === null ? null : ((await findMirroredPlan(db, workspaceId, planId))?.provider_price_id ?? null);
  const present = await priceOf(client.plan_id);
  const next = client.pending_plan_id === null ? present : await priceOf(client.pending_plan_id);
  if (next === null || found.priceId === next) return;
  if (present !== null && found.priceId !== present)
    await provider.changeSubscriptionPlan(newId(), id, present, { prorate: kind === 'plan_now' });
  if (present !== next) await provider.changeSubscriptionPlan(newId(), id, next, { prorate: false });
}
