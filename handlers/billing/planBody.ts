import type { PlanRow, ShownPlanRow } from '../../db/queries/billing/plans.ts';
import { formatPrice } from '../../domain/billing/money.ts';
import { creditsIncluded } from '../../domain/billing/planTerms.ts';
import { type HubSettings, hubUrlOf } from '../../domain/hubs/hubUrl.ts';
import type { components } from '../../generated/api.ts';

type Plan = components['schemas']['Plan'];

/** The plan as the contract shows it. */
export function planBody(row: ShownPlanRow, hub: HubSettings): Plan {
  return {
    ...commonBody(row, hub),
    creditPackage: creditPackageOf(row),
    // Only a deleted plan can be without its content.
    hubPackage: { publicId: row.hub_package_id ?? row.id, name: row.package_name },
  };
}

/** The plan as a list shows it. */
export function planListItem(row: ShownPlanRow, hub: HubSettings): components['schemas']['PlanListItem'] {
  return {
    ...commonBody(row, hub),
    creditPackageName: row.credit_package_name,
    packageName: row.package_name,
    agentsCount: row.agents_count,
    pagesCount: row.pages_count,
  };
}

/** The plan as other things refer to it. */
export function planRefBody(row: PlanRow): components['schemas']['PlanRef'] {
  return {
    publicId: row.id,
    name: row.name,
    priceCents: row.price_cents,
    currency: row.currency,
    billingType: row.billing_type,
    billingIntervalMonths: row.billing_interval_months,
    creditsIncluded: creditsIncluded(row),
  };
}

function commonBody(row: ShownPlanRow, hub: HubSettings): Omit<Plan, 'creditPackage' | 'hubPackage'> {
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    billingType: row.billing_type,
    billingIntervalMonths: row.billing_interval_months,
    priceCents: row.price_cents,
    currency: row.currency,
    formattedPrice: formatPrice(row.price_cents, row.currency, row.locale),
    unlimitedCredits: row.unlimited_credits,
    extraCreditsEnabled: row.extra_credits_enabled,
    extraCreditsPriceCents: row.extra_credits_price_cents,
    seatsIncluded: row.seats_included,
    visible: row.visible,
    activeSubscriptions: row.active_subscriptions,
    checkoutUrl: checkoutUrlOf(row, hub),
    widgetTitle: row.widget_title,
    widgetDescription: row.widget_description,
    widgetCtaText: row.widget_cta_text,
    widgetHighlighted: row.widget_highlighted,
    widgetFeatures: row.widget_features,
    createdAt: row.created_at.toISOString(),
  };
}

/** The page of the hub that sells the plan; null for an inactive plan and without a subdomain. */
function checkoutUrlOf(row: ShownPlanRow, hub: HubSettings): string | null {
  const hubUrl = row.status === 'active' ? hubUrlOf(hub, row.subdomain) : null;
  return hubUrl === null ? null : `${hubUrl}/checkout/${row.id}`;
}

function creditPackageOf(row: PlanRow): Plan['creditPackage'] {
  const { credit_package_id, credit_package_name, credit_value_cents, credits_amount } = row;
  if (!credit_package_id || !credit_package_name || !credit_value_cents || !credits_amount) return null;
  return {
    publicId: credit_package_id,
    name: credit_package_name,
    creditValueCents: credit_value_cents,
    creditsAmount: credits_amount,
    extraCreditsAmount: row.extra_credits_amount,
    renewalIntervalMonths: row.renewal_interval_months,
  };
}
