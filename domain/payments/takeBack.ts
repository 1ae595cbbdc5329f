import { updateReversedShare } from '../../db/queries/credits/reversals.ts';
import { findCheckoutRow } from '../../db/queries/payments/checkouts.ts';
import { findClientOfSubscription } from '../../db/queries/payments/grants.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PaymentProvider, PaymentState } from '../../integrations/payments/provider.ts';
import { APPLIED, type EventOutcome, grantKeyOf, ignoredEvent } from './grantKeys.ts';
import type { PaymentContext } from './paymentsOf.ts';

/**
 * Takes back the credits of a payment in the proportion in which its money was given back or is disputed, rounded down to whole credits of each lot, and gives them
 * back when a dispute was won. Credits that were used become a debt.
 */
export async function takeBack(
  context: PaymentContext,
  provider: PaymentProvider,
  { chargeId, eventId }: { chargeId: string; eventId: string },
): Promise<EventOutcome> {
  const { db, workspaceId, clock } = context;
  const payment = await provider.findPayment(chargeId);
  if (!payment?.paidFor || payment.amount <= 0) return ignoredEvent('It paid for nothing of this hub.');
  const clientId = await payerOf(context, provider, payment.paidFor);
  if (clientId === undefined) return ignoredEvent('No client of this hub has paid it.');
  const { paidFor, amount } = payment;
  await inTransaction(db, (trx) =>
    updateReversedShare(trx, {
      workspaceId,
      clientId,
      grantKey:
        'checkoutId' in paidFor ? grantKeyOf.checkout(paidFor.checkoutId) : grantKeyOf.invoice(paidFor.invoiceId),
      // What was given back cannot be disputed as well, and both together are no more than what was paid.
      part: Math.min(amount, payment.refunded + payment.disputed),
      whole: amount,
      key: `payment:${chargeId}:${eventId}`,
      now: clock.now(),
    }),
  );
  return APPLIED;
}

/** The client for which a payment was made. */
async function payerOf(
  { db, workspaceId }: PaymentContext,
  provider: PaymentProvider,
  paidFor: NonNullable<PaymentState['paidFor']>,
): Promise<string | undefined> {
  if ('checkoutId' in paidFor)
    return (await findCheckoutRow(db, workspaceId, paidFor.checkoutId))?.client_id ?? undefined;
  const { subscriptionId } = paidFor;
  if (subscriptionId === null) return undefined;
  const known = await findClientOfSubscription(db, workspaceId, subscriptionId);
  if (known !== undefined) return known;
  // The client has another subscription by now: the checkout knows who began this one.
  const checkoutId = (await provider.findSubscription(subscriptionId))?.checkoutId;
  return checkoutId ? ((await findCheckoutRow(db, workspaceId, checkoutId))?.client_id ?? undefined) : undefined;
}
