import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { lockCreditPackage } from '../../db/queries/billing/creditPackages.ts';
import { findShownPlan, insertPlan, type ShownPlanRow } from '../../db/queries/billing/plans.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { DB } from '../../generated/db.ts';
import type { WorkspaceContext } from '../context.ts';
import { takePackage } from './content.ts';
import { currencyOf } from './money.ts';
import { checkTerms, planRuleFault } from './planTerms.ts';

type NewPlan = components['schemas']['PlanCreate'];

/**
 * Makes an active plan. Throws PLAN_RULE_VIOLATED, CREDIT_PACKAGE_NOT_FOUND, the 404 of its content (`takePackage`), and PLAN_NAME_TAKEN by
 * plans_name_key (db/errors.ts).
 */
export async function addPlan(
  { db, workspaceId, clock }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>,
  body: NewPlan,
): Promise<ShownPlanRow> {
  const currency = currencyOf(body.currency);
  if (!currency) throw planRuleFault('There is no such currency.');
  const terms = {
    billing_type: body.billingType,
    billing_interval_months: body.billingIntervalMonths,
    extra_credits_enabled: body.extraCreditsEnabled ?? false,
    extra_credits_price_cents: body.extraCreditsPriceCents ?? null,
    credit_package_id: body.creditPackagePublicId ?? null,
  };
  checkTerms(terms);
  const now = clock.now();
  const id = newId();
  return inTransaction(db, async (trx) => {
    if (terms.credit_package_id) await requireCreditPackage(trx, workspaceId, terms.credit_package_id);
    const hubPackageId = await takePackage(trx, workspaceId, body, { planName: body.name, now });
    await insertPlan(trx, {
      ...terms,
      workspace_id: workspaceId,
      id,
      name: body.name,
      description: body.description ?? null,
      price_cents: body.priceCents,
      currency,
      unlimited_credits: body.unlimitedCredits ?? false,
      seats_included: body.seatsIncluded,
      visible: body.visible ?? true,
      hub_package_id: hubPackageId,
      created_at: now,
      updated_at: now,
    });
    return shownPlan(trx, workspaceId, id);
  });
}

/** Throws CREDIT_PACKAGE_NOT_FOUND; else the credit package is not deleted until the transaction ends. */
export async function requireCreditPackage(trx: Transaction<DB>, workspaceId: string, id: string): Promise<void> {
  if (!(await lockCreditPackage(trx, workspaceId, id, 'share'))) throw fault('CREDIT_PACKAGE_NOT_FOUND');
}

/** The plan as the API shows it. Throws PLAN_NOT_FOUND. */
export async function shownPlan(db: WorkspaceContext['db'], workspaceId: string, id: string): Promise<ShownPlanRow> {
  const plan = await findShownPlan(db, workspaceId, id);
  if (!plan) throw fault('PLAN_NOT_FOUND');
  return plan;
}
