import { PaymentProviderError } from '../provider.ts';

/** The result of a call; undefined where the provider has no such object. */
export async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PaymentProviderError && error.failure === 'missing') return undefined;
    throw error;
  }
}

/** The id of an object that stands there by its id or whole. */
export function stripeIdOf(value: string | { id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : value.id;
}
