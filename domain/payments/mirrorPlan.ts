import { fault } from '../../core/errors.ts';
import { findPlan, type PlanRow } from '../../db/queries/billing/plans.ts';
import { findHub } from '../../db/queries/hubs/hubs.ts';
import { currencyDigits } from '../billing/currencies.ts';
import { type HubSettings, hubUrlOf } from '../hubs/hubUrl.ts';
import { mirroredPlan, planColumnsOf } from './mirror.ts';
import type { PaymentContext } from './paymentsOf.ts';
import { withIntent } from './withIntent.ts';

/** What mirroring a plan needs; a WorkspaceContext has it, and so can an admin command. */
export interface MirrorContext extends PaymentContext {
  runtime: PaymentContext['runtime'] & HubSettings;
}

/**
 * Gives a paid plan its objects at the provider, if it has none: it was made while the hub sold by invoice, or through another account. Returns the plan as it
 * is then. Throws PLAN_NOT_FOUND and PAYMENT_PROVIDER_ERROR.
 */
export async function mirrorPlan(context: MirrorContext, planId: string): Promise<PlanRow> {
  const { db, workspaceId, runtime } = context;
  const plan = await findPlan(db, workspaceId, planId);
  if (!plan) throw fault('PLAN_NOT_FOUND');
  if (plan.price_cents === 0 || plan.provider_price_id !== null) return plan;
  const hub = await findHub(db, workspaceId);
  const mirrored = mirroredPlan(plan, {
    currencyDigits: currencyDigits(plan.currency) ?? 2,
    returnUrl: hubUrlOf(runtime, hub?.subdomain ?? null),
  });
  await withIntent(
    context,
    { kind: 'plan', subjectId: plan.id },
    {
      make: (provider, key) => provider.createPlan(key, mirrored),
      // Of two that mirror it at once the first one counts: what the other made is archived, since no row names it.
      async store(made) {
        const { numUpdatedRows } = await db
          .updateTable('plans')
          .set(planColumnsOf(made))
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', plan.id)
          .where('provider_price_id', 'is', null)
          .executeTakeFirst();
        if (made && numUpdatedRows === 0n) throw fault('UNAVAILABLE');
      },
    },
  );
  return (await findPlan(db, workspaceId, planId)) ?? plan;
}
