import { fault } from '../../core/errors.ts';
import type { PlanRow } from '../../db/queries/billing/plans.ts';

/** Credits that a plan brings, bonus credits among them; 0 without a credit package. May be over 2^31. */
export function creditsIncluded(plan: Pick<PlanRow, 'credits_amount' | 'extra_credits_amount'>): number {
  return (plan.credits_amount ?? 0) + (plan.extra_credits_amount ?? 0);
}

/**
 * Credits of one pack of extra credits: as many as its price buys at the price of a credit, at least 1. Undefined when the plan sells none.
 */
export function extraCreditsInPack(
  plan: Pick<PlanRow, 'extra_credits_enabled' | 'extra_credits_price_cents' | 'credit_value_cents'>,
): number | undefined {
  const { extra_credits_price_cents: price, credit_value_cents: value } = plan;
  if (!plan.extra_credits_enabled || price === null || value === null) return undefined;
  return Math.max(1, Math.floor(price / value));
}

/** What the rules across the fields of a plan are about. */
export interface PlanTerms {
  billing_type: string;
  billing_interval_months: number;
  extra_credits_enabled: boolean;
  extra_credits_price_cents: number | null;
  credit_package_id: string | null;
}

/** Throws PLAN_RULE_VIOLATED when the plan breaks a rule across its fields. */
export function checkTerms(plan: PlanTerms): void {
  if (plan.billing_type === 'recurring' && plan.billing_interval_months < 1)
    throw planRuleFault('A recurring plan needs a billing interval of at least one month.');
  if (!plan.extra_credits_enabled) return;
  if (plan.extra_credits_price_cents === null) throw planRuleFault('Extra credits need a price.');
  if (plan.credit_package_id === null)
    throw planRuleFault('Extra credits need a credit package, which says what one credit costs.');
}

/** The fault for a plan that breaks a rule, with the rule as its message. */
export function planRuleFault(message: string): Error {
  return fault('PLAN_RULE_VIOLATED', message);
}
