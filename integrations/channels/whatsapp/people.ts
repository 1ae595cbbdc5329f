import { asList, asName, asObject, distinctIdentities, type Payload } from '../payload.ts';
import type { ChannelIdentity } from '../provider.ts';

/*
 * By what the Cloud API names a person. Since 2026 a payload carries a business-scoped user id (`user_id`, `from_user_id`), and where the
 * person has a user name it may have no phone number: neither `wa_id` nor `from`. A value is judged by its form and not by the field it is in,
 * because a phone number's field may hold the other id
 * (developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids, March 2026).
 */

const PHONE = /^\+?(\d{5,20})$/;
/** A country, a dot, and up to 128 letters and digits; `ENT.` is in the id that several businesses of one owner share. */
const BSUID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** The identity that a value is, if any. */
export function identityOf(value: unknown): ChannelIdentity | null {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string') return null;
  const digits = PHONE.exec(text)?.[1];
  if (digits !== undefined) return { kind: 'wa_id', value: digits };
  return BSUID.test(text) ? { kind: 'bsuid', value: text } : null;
}

/** Whether a text is a business-scoped user id, which is sent to as `recipient` and never as `to`. */
export function isBsuid(value: string): boolean {
  return BSUID.test(value);
}

/** The identities in these values, in their order. */
export function identitiesOf(values: readonly unknown[]): ChannelIdentity[] {
  return distinctIdentities(values.map(identityOf));
}

/** Meta puts at most 1,000 updates in one POST. */
const MAX_CONTACTS = 2000;

/** A person whom a change names. */
export interface NamedPerson {
  identities: ChannelIdentity[];
  profileName: string | null;
}

/** The people in the `contacts` of a change. A change may have thousands, and as many messages: each is found by a look-up. */
export class NamedPeople {
  readonly #byIdentity = new Map<string, NamedPerson>();
  /** The only one, if there is one. */
  readonly only: NamedPerson | undefined;

  constructor(change: Payload) {
    const contacts = asList(change.contacts).slice(0, MAX_CONTACTS).map(asObject);
    const people = contacts.map((contact) => {
      const profile = asObject(contact.profile);
      return {
        identities: identitiesOf([contact.wa_id, contact.user_id, contact.parent_user_id]),
        profileName: asName(profile.name) ?? asName(profile.username),
      };
    });
    for (const person of people) {
      for (const identity of person.identities) {
        if (!this.#byIdentity.has(keyOf(identity))) this.#byIdentity.set(keyOf(identity), person);
      }
    }
    this.only = people.length === 1 ? people[0] : undefined;
  }

  /** The person who shares one of these identities. */
  find(identities: readonly ChannelIdentity[]): NamedPerson | undefined {
    const found = identities.find((identity) => this.#byIdentity.has(keyOf(identity)));
    return found && this.#byIdentity.get(keyOf(found));
  }
}

/**
 * Who sent a message: what the message itself says, and the contact that shares an identity with it. A change with one contact
 * and messages of one sender belong together also where they share none: a person's `from` and `wa_id` may differ.
 */
export function senderOf(message: Payload, people: NamedPeople, isOneSender: boolean): NamedPerson {
  const own = identitiesOf([message.from, message.from_user_id, message.from_parent_user_id]);
  const person = people.find(own) ?? (isOneSender ? people.only : undefined);
  return { identities: joined(person, own), profileName: person?.profileName ?? null };
}

/** Who got a message, by a status of it and the contact that shares an identity with it. */
export function recipientOf(status: Payload, people: NamedPeople): ChannelIdentity[] {
  const own = identitiesOf([status.recipient_id, status.recipient_user_id, status.recipient_parent_user_id]);
  return joined(people.find(own), own);
}

/** The number first: it is what a person is known by. */
function joined(person: NamedPerson | undefined, own: readonly ChannelIdentity[]): ChannelIdentity[] {
  const identities = distinctIdentities([...(person?.identities ?? []), ...own]);
  return identities.sort((a, b) => Number(a.kind === 'bsuid') - Number(b.kind === 'bsuid'));
}

function keyOf({ kind, value }: ChannelIdentity): string {
  return `${kind} ${value}`;
}
