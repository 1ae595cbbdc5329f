/** The version of Stripe's API that this code was written for. The webhook endpoint has the same (docs/payments.md). */
export const STRIPE_API_VERSION = '2026-10-28.endive';
