import { type PaymentFailure, PaymentProviderError } from '../provider.ts';

/** What the library's errors have; https://docs.stripe.com/error-handling. */
interface StripeLikeError {
  type?: string;
  code?: string;
  statusCode?: number;
  message?: string;
}

const SECRET = /\b(?:[sr]k_(?:test|live)|whsec)_[\w*]+/g;
const MAX_MESSAGE = 300;

/** Any error of a call as PaymentProviderError. The message of the provider stays, without keys and shortened. */
export function providerError(error: unknown): PaymentProviderError {
  if (error instanceof PaymentProviderError) return error;
  const { type = '', code, statusCode = 0, message = '' } = (error ?? {}) as StripeLikeError;
  const said = message.replace(SECRET, '[key]').slice(0, MAX_MESSAGE);
  return new PaymentProviderError(failureOf(type, code, statusCode), said || 'The payment provider failed.', { code });
}

function failureOf(type: string, code: string | undefined, status: number): PaymentFailure {
  if (code === 'resource_missing' || status === 404) return 'missing';
  if (type === 'StripeAuthenticationError' || type === 'StripePermissionError') return 'denied';
  // A conflict of keys says that another call with the key runs, which may make it.
  if (type === 'StripeIdempotencyError' || status === 409) return 'unknown';
  if (type === 'StripeRateLimitError') return 'refused';
  if (status >= 400 && status < 500) return 'refused';
  return 'unknown';
}
