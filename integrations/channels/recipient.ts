import type { ChannelIdentity } from './provider.ts';

/** The number of a person, the one seen last; null when none is known. A `wa_id` is the number of an account. */
export function numberOf(recipient: readonly ChannelIdentity[]): string | null {
  const number = recipient.find(
    ({ kind, value }) => (kind === 'wa_id' || kind === 'phone') && /^\d{5,20}$/.test(value),
  );
  return number?.value ?? null;
}
