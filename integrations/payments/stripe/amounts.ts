import { PaymentProviderError } from '../provider.ts';

// https://docs.stripe.com/currencies#zero-decimal: every other currency has two decimals there, also ISK and UGX, which have none elsewhere.
const WITHOUT_DECIMALS = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const WITH_THREE = new Set('BHD JOD KWD OMR TND'.split(' '));

/**
 * An amount in the smallest unit of a currency, of which one has `digits` decimals here, in the unit that Stripe counts in. Throws
 * PaymentProviderError for an amount that Stripe cannot express.
 */
export function stripeAmount(amount: number, currency: string, digits: number): number {
  const theirs = WITHOUT_DECIMALS.has(currency) ? 0 : WITH_THREE.has(currency) ? 3 : 2;
  const converted = theirs >= digits ? amount * 10 ** (theirs - digits) : amount / 10 ** (digits - theirs);
  if (Number.isSafeInteger(converted)) return converted;
  throw new PaymentProviderError('refused', `The payment provider has no amount for this price in ${currency}.`);
}
