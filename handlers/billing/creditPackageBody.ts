import type { CreditPackageRow } from '../../db/queries/billing/creditPackages.ts';
import type { components } from '../../generated/api.ts';

/** The credit package as the contract shows it. */
export function creditPackageBody(row: CreditPackageRow): components['schemas']['CreditPackage'] {
  return { ...creditsOf(row), createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() };
}

/** The credit package as a list shows it. */
export function creditPackageListItem(
  row: CreditPackageRow & { plans_using: number },
): components['schemas']['CreditPackageListItem'] {
  return { ...creditsOf(row), plansUsingCount: row.plans_using, createdAt: row.created_at.toISOString() };
}

function creditsOf(row: CreditPackageRow): components['schemas']['CreditPackageRef'] {
  return {
    publicId: row.id,
    name: row.name,
    creditValueCents: row.credit_value_cents,
    creditsAmount: row.credits_amount,
    extraCreditsAmount: row.extra_credits_amount,
    renewalIntervalMonths: row.renewal_interval_months,
  };
}
