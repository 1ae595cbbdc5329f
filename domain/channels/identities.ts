import type { IdentityKey } from '../../db/queries/channels/endUsers.ts';
import type { ChannelIdentity } from '../../integrations/channels/provider.ts';

/** Characters of an identity, as the table has them. */
const MAX_VALUE = 255;
/** A payload that names a person in more ways is no payload of a provider. */
const MAX_IDENTITIES = 10;

/** One spelling for each identity, so that one that comes twice is one. Null for what names nobody. */
function readIdentity({ kind, value }: ChannelIdentity): IdentityKey | null {
  const trimmed = value.trim();
  const read = kind === 'phone' || kind === 'wa_id' ? digitsOf(trimmed) : kind === 'lid' ? lidOf(trimmed) : trimmed;
  return read === '' || [...read].length > MAX_VALUE ? null : { kind, value: read };
}

/**
 * A number in international form without anything but its digits, as WhatsApp writes a `wa_id`: “+49 (151) 1234-567” is 491511234567. A
 * text with letters stays as it is. A Brazilian number with and without its ninth digit stays two numbers: which of them have one
 * is not to be told by the number, and two people must never become one by a guess.
 */
function digitsOf(text: string): string {
  const number = text.replace(/@.*$/, '');
  return /^[\d\s()+./-]*$/.test(number) ? number.replace(/\D/g, '') : text;
}

/** An address of Z-API that hides the number: it ends with `@lid`. */
function lidOf(text: string): string {
  return text === '' ? '' : `${text.toLowerCase().replace(/@lid$/, '')}@lid`;
}

/** What a payload names a person by, in one spelling and each once, in the order given. Throws when there is nothing. */
export function readIdentities(given: readonly ChannelIdentity[]): [IdentityKey, ...IdentityKey[]] {
  const read = new Map<string, IdentityKey>();
  for (const each of given.slice(0, MAX_IDENTITIES)) {
    const identity = readIdentity(each);
    if (identity) read.set(`${identity.kind} ${identity.value}`, identity);
  }
  const [first, ...others] = read.values();
  if (!first) throw new Error('A message names nobody.');
  return [first, ...others];
}

/** An identity and its other names: a `wa_id` is the phone number of an account, so a number of the same digits is the same person. */
export function samePerson(identity: IdentityKey): IdentityKey[] {
  const { kind, value } = identity;
  if (kind === 'phone') return [identity, { kind: 'wa_id', value }];
  if (kind === 'wa_id') return [identity, { kind: 'phone', value }];
  return [identity];
}
