import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { Places } from '../../core/places.ts';
import { lockPlan, type PlanRow, selectPlansWithLinks, updatePlanRow } from '../../db/queries/billing/plans.ts';
import type { DB } from '../../generated/db.ts';
import type { PlanObjects } from '../../integrations/payments/provider.ts';
import { currencyDigits } from '../billing/currencies.ts';
import { mirroredPlan, planObjectsOf } from '../payments/mirror.ts';
import { asFault, type HubPayments, type PaymentContext } from '../payments/paymentsOf.ts';
import { withIntent } from '../payments/withIntent.ts';

/** Calls of the provider at a time. It allows a hundred a second (https://docs.stripe.com/rate-limits). */
const AT_ONCE = 8;

type Link = Pick<PlanObjects, 'paymentLinkId' | 'paymentLinkUrl'>;

/**
 * Makes the payment links of all plans of the hub anew, so that buyers come back to `returnUrl`, and stops the earlier ones. `store` then
 * writes what else changes, and calls the function that it gets in its transaction. When a link or `store` fails, the earlier links work
 * again. A hub without a payment provider has no links: only `store` runs. Throws PAYMENT_PROVIDER_ERROR, UNAVAILABLE when a plan was
 * changed at the same time, and what `store` throws.
 */
export async function withNewLinks<Result>(
  context: PaymentContext,
  hub: HubPayments,
  returnUrl: string | null,
  store: (storeLinks: (trx: Transaction<DB>) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const { db, workspaceId } = context;
  const plans = hub.payment_mode === 'invoice' ? [] : await selectPlansWithLinks(db, workspaceId);
  const made: { plan: PlanRow; link: Link }[] = [];
  const storeLinks = async (trx: Transaction<DB>) => {
    // Always in the same order, so that two moves cannot wait for each other.
    for (const each of made.toSorted((a, b) => (a.plan.id < b.plan.id ? -1 : 1))) await storeLink(trx, each);
  };
  if (plans.length === 0) return store(storeLinks);
  const places = new Places({ atOnce: AT_ONCE, ofOne: AT_ONCE, waitingOfOne: plans.length });
  // All links are stored or undone together: each intent waits for the one result.
  const stored = Promise.withResolvers<Result>();
  // It is awaited below, when all attempts have ended.
  stored.promise.catch(() => undefined);
  const attempts = plans.map((plan) =>
    withIntent(
      context,
      { kind: 'plan', subjectId: plan.id, hub },
      {
        make: async (provider, key) => {
          const objects = planObjectsOf(plan);
          const mirrored = mirroredPlan(plan, { currencyDigits: currencyDigits(plan.currency) ?? 2, returnUrl });
          try {
            return await places.run('', () => provider.replacePaymentLink(key, objects as PlanObjects, mirrored));
          } catch (error) {
            stored.reject(asFault(error));
            throw error;
          }
        },
        store: async (link) => {
          if (link) made.push({ plan, link });
          if (made.length === plans.length) stored.resolve(store(storeLinks));
          return stored.promise;
        },
      },
    ).catch((error: unknown) => {
      stored.reject(error);
      throw error;
    }),
  );
  // Also when one has failed: the others are undone before the caller hears of it.
  await Promise.allSettled(attempts);
  return stored.promise;
}

/** Writes a link that was made for a plan, unless the plan has changed since then. */
async function storeLink(trx: Transaction<DB>, { plan, link }: { plan: PlanRow; link: Link }): Promise<void> {
  const { workspace_id: workspaceId, id } = plan;
  const now = await lockPlan(trx, workspaceId, id, 'update');
  if (now?.provider_payment_link_id !== plan.provider_payment_link_id)
    throw fault('UNAVAILABLE', 'A plan of the hub was changed at the same time.', { headers: { 'Retry-After': '2' } });
  await updatePlanRow(trx, workspaceId, id, {
    provider_payment_link_id: link.paymentLinkId,
    provider_payment_link_url: link.paymentLinkUrl,
  });
}
