/** How the payment provider (Stripe) is reached. Without a key nothing is sold through it. */
export interface PaymentSettings {
  /** `sk_test_…` or `sk_live_…` (or a restricted key, `rk_…`) of the installation's own account. */
  secretKey?: string | undefined;
  /** Scheme, host and port, such as `http://127.0.0.1:12111`; absent: Stripe's own address. */
  apiBase?: string | undefined;
  /** The signing secrets of the webhook endpoints; empty: no event is believed. */
  webhookSecrets: readonly string[];
  /** Milliseconds of a call, and how often one is tried again; absent: as in production. For tests. */
  callMs?: number;
  maxRetries?: number;
}

const SECRET_KEY = /^[sr]k_(test|live)_[A-Za-z0-9]+$/;
const WEBHOOK_SECRET = /^[!-+\--~]+$/;

/**
 * Reads the settings from environment variables: `STRIPE_SECRET_KEY`, `STRIPE_API_BASE` and `STRIPE_WEBHOOK_SECRET` (several, separated by
 * commas). Blank values count as absent. Throws an Error that names the variable (never its value) when one is not valid.
 */
export function paymentSettingsFromEnv(env: Readonly<Record<string, string | undefined>>): PaymentSettings {
  const secretKey = env.STRIPE_SECRET_KEY?.trim() || undefined;
  if (secretKey !== undefined && !SECRET_KEY.test(secretKey))
    throw new Error('STRIPE_SECRET_KEY must be a secret key of Stripe: sk_test_… or sk_live_….');
  const webhookSecrets = (env.STRIPE_WEBHOOK_SECRET ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (!webhookSecrets.every((each) => WEBHOOK_SECRET.test(each)))
    throw new Error('STRIPE_WEBHOOK_SECRET must be visible ASCII characters, and commas between several secrets.');
  return { secretKey, apiBase: apiBaseOf(env.STRIPE_API_BASE), webhookSecrets };
}

function apiBaseOf(text: string | undefined): string | undefined {
  const value = text?.trim();
  if (!value) return undefined;
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash || url.username)
    throw new Error('STRIPE_API_BASE must be scheme, host and port, such as http://127.0.0.1:12111.');
  return url.origin;
}

/** Whether the key moves real money. Events must say the same (`livemode`). */
export function isLive({ secretKey }: Pick<PaymentSettings, 'secretKey'>): boolean {
  return secretKey !== undefined && /^[sr]k_live_/.test(secretKey);
}
