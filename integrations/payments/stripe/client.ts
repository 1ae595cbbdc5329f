import type { Stripe } from 'stripe';
import type { PaymentSettings } from '../settings.ts';
import { STRIPE_API_VERSION } from '../version.ts';
import { providerError } from './errors.ts';

/** A call has so long, and each of its retries. */
const CALL_MS = 15_000;
/** By the library: with the same idempotency key, after half a second and a second. */
const MAX_RETRIES = 2;

/** Options of one call. */
interface CallOptions {
  /** The idempotency key; absent for calls that only read. */
  key?: string | undefined;
  /** Milliseconds; for calls that carry files. */
  timeoutMs?: number;
}

/** Calls Stripe's library, for one account. */
export type StripeCall = <Result>(
  options: CallOptions,
  work: (stripe: Stripe, options: Stripe.RequestOptions) => Promise<Result>,
) => Promise<Result>;

/** The library as it is loaded when it is first needed: it takes a fifth of a second. */
export const loadStripe = async () => (await import('stripe')).default;

/**
 * The one way to Stripe. Every call is made for `account`, whatever the caller passes: the client's HTTP layer refuses to send a request
 * for another one, or a change without an idempotency key of ours. `account` null is the installation's own.
 */
export function stripeFor(settings: PaymentSettings, account: string | null): StripeCall {
  const { callMs = CALL_MS, maxRetries = MAX_RETRIES } = settings;
  let client: Promise<Stripe> | undefined;
  return async ({ key, timeoutMs = callMs }, work) => {
    client ??= makeClient(settings, account, maxRetries);
    try {
      const stripe = await client;
      return await work(stripe, {
        timeout: timeoutMs,
        ...(account === null ? {} : { stripeAccount: account }),
        ...(key === undefined ? {} : { idempotencyKey: `${KEY_PREFIX}${key}` }),
      });
    } catch (error) {
      throw providerError(error);
    }
  };
}

/** What our idempotency keys begin with; those that the library makes by itself do not. */
const KEY_PREFIX = 'guildhall-';

async function makeClient(settings: PaymentSettings, account: string | null, maxRetries: number): Promise<Stripe> {
  const { secretKey, apiBase } = settings;
  if (secretKey === undefined) throw new Error('The installation has no STRIPE_SECRET_KEY.');
  const Library = await loadStripe();
  const http = Library.createNodeHttpClient();
  const makeRequest = http.makeRequest.bind(http);
  http.makeRequest = async (...request) => {
    const [, , , method, headers] = request;
    const header = (name: string) => {
      const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name);
      return found && String(found[1]);
    };
    if (header('stripe-account') !== (account ?? undefined) || header('stripe-context'))
      throw new Error('A call of Stripe was not for the account of its hub.');
    if (method === 'POST' && !header('idempotency-key')?.startsWith(KEY_PREFIX))
      throw new Error('A call of Stripe had no idempotency key.');
    return makeRequest(...request);
  };
  const address = apiBase === undefined ? undefined : new URL(apiBase);
  return new Library(secretKey, {
    apiVersion: STRIPE_API_VERSION,
    httpClient: http,
    maxNetworkRetries: maxRetries,
    timeout: CALL_MS,
    telemetry: false,
    ...(address && {
      protocol: address.protocol === 'http:' ? 'http' : 'https',
      host: address.hostname.replace(/^\[|\]$/g, ''),
      port: address.port || (address.protocol === 'http:' ? 80 : 443),
    }),
  });
}
