import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { removeUnusedHubPackage } from '../../db/queries/billing/hubPackages.ts';
import {
  hasSubscribers,
  lockPlan,
  type PlanRow,
  type ShownPlanRow,
  softDeletePlan,
  updatePlanRow,
  updateTermsOfSubscribers,
} from '../../db/queries/billing/plans.ts';
import { isDefaultOfPublicHub, lockHub, updateHubsWithoutPlan } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { DB } from '../../generated/db.ts';
import type { PlanObjectColumns } from '../payments/mirror.ts';
import { takePackage } from './content.ts';
import { type PlanContext, requireCreditPackage, shownPlan } from './plans.ts';
import { checkTerms, planRuleFault } from './planTerms.ts';

/** What can be changed of a plan. */
export type PlanChange = components['schemas']['PlanUpdate'];

/**
 * Changes a plan, and what the payment provider has of it. Throws PLAN_NOT_FOUND, CREDIT_PACKAGE_NOT_FOUND, the faults of its content
 * (`takePackage`), PLAN_HAS_SUBSCRIBERS for a new price, PLAN_RULE_VIOLATED, and PLAN_NAME_TAKEN by plans_name_key (db/errors.ts).
 */
export function changePlan(
  { db, workspaceId, clock }: PlanContext,
  id: string,
  body: PlanChange,
  objects: Partial<PlanObjectColumns> = {},
): Promise<ShownPlanRow> {
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    // The hub before the plan, as everywhere: `updateHubAccess` may make it the default plan of a public hub at the same time.
    if (body.priceCents) await lockHub(trx, workspaceId, now);
    const plan = await lockPlan(trx, workspaceId, id, 'update');
    if (!plan) throw fault('PLAN_NOT_FOUND');
    const columns = { ...columnsOf(body), ...objects };
    checkTerms({ ...plan, ...columns });
    await checkPrice(trx, plan, body.priceCents);
    if (body.creditPackagePublicId) await requireCreditPackage(trx, workspaceId, body.creditPackagePublicId);
    const hubPackageId = await packageOf(trx, plan, body, now);
    const isChanged = Object.keys(columns).length > 0 || hubPackageId !== plan.hub_package_id;
    if (isChanged)
      await updatePlanRow(trx, workspaceId, id, { ...columns, hub_package_id: hubPackageId, updated_at: now });
    if (plan.hub_package_id !== null && hubPackageId !== plan.hub_package_id)
      await removeUnusedHubPackage(trx, workspaceId, plan.hub_package_id);
    const changed = await shownPlan(trx, workspaceId, id);
    const terms = { isUnlimited: changed.unlimited_credits, mayUseExtra: changed.extra_credits_enabled };
    if (terms.isUnlimited !== plan.unlimited_credits || terms.mayUseExtra !== plan.extra_credits_enabled)
      await updateTermsOfSubscribers(trx, workspaceId, id, terms);
    return changed;
  });
}

/** The columns that a change sets; an absent field stays as it is. */
function columnsOf(body: PlanChange) {
  const { widgetFeatures } = body;
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.status === undefined ? {} : { status: body.status }),
    ...(body.priceCents === undefined ? {} : { price_cents: body.priceCents }),
    ...(body.seatsIncluded === undefined ? {} : { seats_included: body.seatsIncluded }),
    ...(body.unlimitedCredits === undefined ? {} : { unlimited_credits: body.unlimitedCredits }),
    ...(body.extraCreditsEnabled === undefined ? {} : { extra_credits_enabled: body.extraCreditsEnabled }),
    ...(body.extraCreditsPriceCents === undefined ? {} : { extra_credits_price_cents: body.extraCreditsPriceCents }),
    ...(body.creditPackagePublicId === undefined ? {} : { credit_package_id: body.creditPackagePublicId }),
    ...(body.widgetTitle === undefined ? {} : { widget_title: body.widgetTitle }),
    ...(body.widgetDescription === undefined ? {} : { widget_description: body.widgetDescription }),
    ...(body.widgetCtaText === undefined ? {} : { widget_cta_text: body.widgetCtaText }),
    ...(body.widgetHighlighted === undefined ? {} : { widget_highlighted: body.widgetHighlighted }),
    ...(widgetFeatures === undefined ? {} : { widget_features: JSON.stringify(widgetFeatures ?? []) }),
  };
}

async function checkPrice(trx: Transaction<DB>, plan: PlanRow, priceCents: number | undefined): Promise<void> {
  if (priceCents === undefined || priceCents === plan.price_cents) return;
  if (priceCents > 0 && (await isDefaultOfPublicHub(trx, plan.workspace_id, plan.id)))
    throw planRuleFault('The default plan of a public hub must be free.');
  if (await hasSubscribers(trx, plan.workspace_id, plan.id)) throw fault('PLAN_HAS_SUBSCRIBERS');
}

async function packageOf(
  trx: Transaction<DB>,
  plan: PlanRow,
  { name = plan.name, packagePublicId, content }: PlanChange,
  now: Date,
): Promise<string | null> {
  if (!content && !packagePublicId) return plan.hub_package_id;
  const choice = { ...(content ? { content } : {}), ...(packagePublicId ? { packagePublicId } : {}) };
  return takePackage(trx, plan.workspace_id, choice, { planName: name, now });
}

/**
 * Deletes a plan. A hub that has it as its default or trial plan has none then; coupons do not name it any more. Throws PLAN_NOT_FOUND,
 * PLAN_HAS_SUBSCRIBERS, and PLAN_RULE_VIOLATED for the default plan of a public hub.
 */
export function dropPlan({ db, workspaceId, clock }: PlanContext, id: string): Promise<void> {
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    await lockHub(trx, workspaceId, now);
    const plan = await lockPlan(trx, workspaceId, id, 'update');
    if (!plan) throw fault('PLAN_NOT_FOUND');
    if (await hasSubscribers(trx, workspaceId, id)) throw fault('PLAN_HAS_SUBSCRIBERS');
    if (await isDefaultOfPublicHub(trx, workspaceId, id))
      throw planRuleFault('The plan is the default plan of a public hub, which needs one.');
    await updateHubsWithoutPlan(trx, workspaceId, id);
    await softDeletePlan(trx, workspaceId, id, now);
    if (plan.hub_package_id !== null) await removeUnusedHubPackage(trx, workspaceId, plan.hub_package_id);
  });
}
