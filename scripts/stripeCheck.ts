import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PaymentProviderError } from '../integrations/payments/provider.ts';
import { paymentSettingsFromEnv } from '../integrations/payments/settings.ts';
import { stripeProvider } from '../integrations/payments/stripe/stripe.ts';
import { CALLS } from './stripeCheck/calls.ts';
import { findStripeMock, startStripeMock } from './stripeCheck/stripeMock.ts';

/*
 * Makes every call of the payment provider to stripe-mock, which checks requests against Stripe's OpenAPI document. A response that is an
 * error is a failure, also where the provider itself makes nothing of it.
 */
const CACHE = join(import.meta.dirname, '../node_modules/.cache/guildhall-stripe-mock');
/** One with a fee for the platform, and the installation's own. */
const ACCOUNTS = [
  { account: 'acct_1NvStripeMock', feePercent: 2.5 },
  { account: null, feePercent: null },
];

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { required: { type: 'boolean', default: false } } });
  const found = await findStripeMock(CACHE);
  if ('reason' in found) {
    console.log(`SKIPPED stripe:check: ${found.reason}`);
    if (values.required) process.exitCode = 1;
    return;
  }
  const mock = await startStripeMock(found.program);
  try {
    const failures: string[] = [];
    let calls = 0;
    const settings = paymentSettingsFromEnv({ STRIPE_SECRET_KEY: 'sk_test_123', STRIPE_API_BASE: mock.origin });
    for (const account of ACCOUNTS) {
      const provider = stripeProvider({ ...settings, maxRetries: 0 }, account);
      for (const [method, each] of Object.entries(CALLS))
        for (const call of each) {
          calls += 1;
          await call(provider, randomUUID()).catch((error: unknown) => failures.push(`${method}: ${saidBy(error)}`));
        }
    }
    const refusals = mock.refusals();
    for (const line of [...failures, ...refusals]) console.log(`FAILED ${line}`);
    const failed = failures.length + refusals.length;
    console.log(`stripe:check: ${calls} calls, ${mock.requests()} requests, ${failed} failures`);
    if (failed > 0 || mock.requests() < calls) process.exitCode = 1;
  } finally {
    await mock.stop();
  }
}

function saidBy(error: unknown): string {
  if (error instanceof PaymentProviderError) return `${error.failure}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
