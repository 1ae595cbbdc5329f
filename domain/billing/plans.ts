import type { Insertable, Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { lockCreditPackage } from '../../db/queries/billing/creditPackages.ts';
import { findShownPlan, insertPlan, type ShownPlanRow } from '../../db/queries/billing/plans.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { DB, Plans } from '../../generated/db.ts';
import type { WorkspaceContext } from '../context.ts';
import type { PlanObjectColumns } from '../payments/mirror.ts';
import { type ContentChoice, takePackage } from './content.ts';
import { currencyOf } from './money.ts';
import { checkTerms, planRuleFault } from './planTerms.ts';

type NewPlan = components['schemas']['PlanCreate'];

/** What changes of plans need from their caller. */
export type PlanContext = Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>;

/** A plan that keeps the rules across its fields, as it is going to be stored, without its content. */
export type PlannedPlan = Insertable<Plans> & { id: string; status: 'active'; description: string | null };

/** Checks the rules across the fields of a new plan. Throws PLAN_RULE_VIOLATED. */
export function planPlan(body: NewPlan, { workspaceId, now }: { workspaceId: string; now: Date }): PlannedPlan {
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
  return {
    ...terms,
    workspace_id: workspaceId,
    id: newId(),
    name: body.name,
    description: body.description ?? null,
    status: 'active',
    price_cents: body.priceCents,
    currency,
    unlimited_credits: body.unlimitedCredits ?? false,
    seats_included: body.seatsIncluded,
    visible: body.visible ?? true,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Stores a plan, with what the payment provider has of it. Throws CREDIT_PACKAGE_NOT_FOUND, the faults of its content (`takePackage`), and
 * PLAN_NAME_TAKEN by plans_name_key (db/errors.ts).
 */
export async function addPlan(
  { db, workspaceId, clock }: PlanContext,
  row: PlannedPlan,
  content: ContentChoice,
  objects: Partial<PlanObjectColumns> = {},
): Promise<ShownPlanRow> {
  return inTransaction(db, async (trx) => {
    if (row.credit_package_id) await requireCreditPackage(trx, workspaceId, row.credit_package_id);
    const hubPackageId = await takePackage(trx, workspaceId, content, { planName: row.name, now: clock.now() });
    await insertPlan(trx, { ...row, ...objects, hub_package_id: hubPackageId });
    return shownPlan(trx, workspaceId, row.id);
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
