import type { Kysely, Selectable } from 'kysely';
import { fault } from '../../core/errors.ts';
import type { DB, Hubs } from '../../generated/db.ts';
import { type PaymentProvider, PaymentProviderError } from '../../integrations/payments/provider.ts';
import type { PaymentSettings } from '../../integrations/payments/settings.ts';
import { type StripeAccount, stripeProvider } from '../../integrations/payments/stripe/stripe.ts';

/** How a hub is paid. */
export type HubPayments = Pick<Selectable<Hubs>, 'payment_mode' | 'payment_account' | 'application_fee_percent'>;

/** What the rules of payments need from their caller; a WorkspaceContext has it. */
export interface PaymentContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: { readonly payments: PaymentSettings };
  clock: { now(): Date };
}

/** How the hub of a workspace is paid; a workspace whose hub was not made yet is paid by invoice. */
export async function findHubPayments(db: Kysely<DB>, workspaceId: string): Promise<HubPayments> {
  const row = await db
    .selectFrom('hubs')
    .select(['payment_mode', 'payment_account', 'application_fee_percent'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row ?? { payment_mode: 'invoice', payment_account: null, application_fee_percent: null };
}

/**
 * The payment provider of a hub: the only way to it, since it fixes the account of every call. Null for a hub that sells by invoice. Throws
 * PAYMENT_PROVIDER_ERROR when the installation has no key for the provider.
 */
export function paymentsOf({ runtime }: Pick<PaymentContext, 'runtime'>, hub: HubPayments): PaymentProvider | null {
  const account = accountOf(hub);
  return account === undefined ? null : providerFor(runtime, account);
}

/** The account of a hub; undefined for one that sells by invoice. */
export function accountOf(hub: HubPayments): StripeAccount | undefined {
  if (hub.payment_mode === 'invoice') return undefined;
  const feePercent = hub.application_fee_percent === null ? null : Number(hub.application_fee_percent);
  return { account: hub.payment_mode === 'own' ? null : hub.payment_account, feePercent };
}

/** The provider for an account, also one that a hub had before. Throws PAYMENT_PROVIDER_ERROR when the installation has no key. */
export function providerFor(
  { payments }: PaymentContext['runtime'],
  { account, feePercent }: StripeAccount,
): PaymentProvider {
  if (payments.secretKey === undefined) {
    throw fault('PAYMENT_PROVIDER_ERROR', 'The installation has no key for the payment provider.');
  }
  const known = providers.get(payments) ?? new Map<string, PaymentProvider>();
  providers.set(payments, known);
  const key = `${account ?? ''} ${feePercent ?? ''}`;
  const provider = known.get(key) ?? stripeProvider(payments, { account, feePercent });
  // In the order of their use, so that the one which was not used for longest goes first.
  known.delete(key);
  known.set(key, provider);
  const oldest = known.keys().next().value;
  if (known.size > MAX_PROVIDERS && oldest !== undefined) known.delete(oldest);
  return provider;
}

/** Accounts whose clients are kept, with their connections. */
const MAX_PROVIDERS = 500;
const providers = new WeakMap<PaymentSettings, Map<string, PaymentProvider>>();

/** A failure of the provider as the error of an operation; any other error as it is. */
export function asFault(error: unknown): unknown {
  if (!(error instanceof PaymentProviderError)) return error;
  const { failure, message } = error;
  const said = failure === 'refused' ? `The payment provider refused: ${message}` : undefined;
  return fault('PAYMENT_PROVIDER_ERROR', said, { cause: error });
}
