import type { PaymentProvider } from '../provider.ts';
import type { PaymentSettings } from '../settings.ts';
import { stripeBranding } from './branding.ts';
import { stripeCheckouts } from './checkout.ts';
import { stripeFor } from './client.ts';
import { stripeCoupons } from './coupons.ts';
import { stripePayments } from './payments.ts';
import { stripePlans } from './plans.ts';
import { stripeSubscriptions } from './subscriptions.ts';

/** Whose account Stripe is called for. */
export interface StripeAccount {
  /** A connected account, `acct_…`; null for the installation's own. */
  account: string | null;
  /** Percent of each payment that the platform keeps, of a connected account only. */
  feePercent: number | null;
}

/** Stripe as the payment provider of one hub. Opens no connection. */
export function stripeProvider(settings: PaymentSettings, { account, feePercent }: StripeAccount): PaymentProvider {
  const call = stripeFor(settings, account);
  const fee = account === null ? null : feePercent;
  return {
    ...stripePlans(call, fee),
    ...stripeCoupons(call),
    ...stripeBranding(call, account),
    ...stripeCheckouts(call, fee),
    ...stripeSubscriptions(call),
    ...stripePayments(call),
  };
}
