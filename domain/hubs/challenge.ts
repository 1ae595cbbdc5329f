import { randomBytes } from 'node:crypto';
import type { NameResolver } from '../../core/outgoing/names.ts';

/** The record that shows who may set records of a custom domain. */
export interface DomainChallenge {
  /** The name of the TXT record. */
  record: string;
  /** What it must say. */
  value: string;
}

/** A new token for a custom domain: 160 random bits. */
export function newDomainToken(): string {
  return `guildhall-${randomBytes(20).toString('hex')}`;
}

/** The TXT record for a domain and its token. It has a name of its own, so that it needs no other record of the domain to change. */
export function challengeOf(domain: string, token: string): DomainChallenge {
  return { record: `_guildhall.${domain}`, value: token };
}

/** Whether the record is there. Throws OutgoingFailed when the name servers do not answer. */
export async function isProven(
  names: Pick<NameResolver, 'texts'>,
  { record, value }: DomainChallenge,
): Promise<boolean> {
  const texts = await names.texts(record);
  return texts.some((text) => text.trim() === value);
}
