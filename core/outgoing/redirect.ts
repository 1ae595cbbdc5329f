import { checkUrl } from './address.ts';
import { OutgoingRefused } from './failures.ts';

/** Where a redirect leads, or the refusal; the target's host is not ours to repeat. */
export function redirectTarget(location: string, from: URL, firstHost: string, allowPrivate: boolean): URL {
  // Header bytes arrive as Latin-1; a path in raw UTF-8 would be encoded twice.
  const target = Buffer.from(location, 'latin1').toString('utf8');
  let next: URL;
  try {
    next = checkUrl(target, allowPrivate, from);
  } catch (error) {
    if (error instanceof OutgoingRefused) throw redirectRefused(firstHost);
    throw error;
  }
  if (from.protocol === 'https:' && next.protocol === 'http:') {
    throw new OutgoingRefused(`${firstHost} redirects from https to plain http, which is not followed.`);
  }
  return next;
}

/** The refusal of a redirect, in terms of the host that the person gave. */
export function redirectRefused(firstHost: string): OutgoingRefused {
  return new OutgoingRefused(`${firstHost} redirects to an address that this service may not call.`);
}
