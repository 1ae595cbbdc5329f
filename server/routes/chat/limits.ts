import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../../../core/clock.ts';
import { type ApiError, fault } from '../../../core/errors.ts';
import { MinuteWindows } from '../../api/minuteWindows.ts';

/** Whom a request of a chat page is counted for. */
export interface Counted {
  connectionId: string;
  /** Null before there is one. */
  visitor: string | null;
  /** What `countedAddress` returns. */
  address: string;
}

/** What is counted. */
export type CountedKind = 'visit' | 'message' | 'file' | 'read' | 'stream';

/** Most of one kind, for each of those whom it is counted for. */
type Limits = { visitor: number; address: number; connection: number };

/** In a minute, in one process. Many people may share one address: a school, a mobile network. */
const PER_MINUTE: Readonly<Record<CountedKind, Limits>> = {
  visit: { visitor: Number.POSITIVE_INFINITY, address: 120, connection: 6000 },
  message: { visitor: 20, address: 120, connection: 1200 },
  file: { visitor: 10, address: 60, connection: 300 },
  read: { visitor: 300, address: 1500, connection: 12_000 },
  stream: { visitor: 60, address: 300, connection: 6000 },
};

/** Messages in a day (UTC), over all processes: each message may cost an operation. */
export const PER_DAY: Limits = { visitor: 300, address: 2000, connection: 100_000 };

/** Counts what visitors do, in windows of one minute. Whoever is over a limit is refused until the window ends. */
export class ChatLimits {
  readonly #windows: MinuteWindows;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#windows = new MinuteWindows(clock);
  }

  /** Counts one. Throws RATE_LIMITED with `Retry-After`. */
  take(kind: CountedKind, { connectionId, visitor, address }: Counted): void {
    const limits = PER_MINUTE[kind];
    if (visitor !== null) this.#count(`${kind} visitor ${connectionId} ${visitor}`, limits.visitor);
    this.#count(`${kind} address ${address}`, limits.address);
    this.#count(`${kind} connection ${connectionId}`, limits.connection);
  }

  #count(key: string, limit: number): void {
    const seconds = this.#windows.take(key, limit);
    if (seconds !== undefined) throw tooMany(seconds);
  }
}

/** RATE_LIMITED until so many seconds have passed. */
export function tooMany(seconds: number): ApiError {
  return fault('RATE_LIMITED', 'Too many requests. Wait and try again.', {
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Whoever a message is counted for in a day, by the SHA-256 under which the count is stored, with the limits. */
export function dailySubjects({ connectionId, visitor, address }: Counted): { subject: Buffer; limit: number }[] {
  const subject = (text: string) => createHash('sha256').update(text).digest();
  return [
    { subject: subject(`visitor ${visitor}`), limit: PER_DAY.visitor },
    { subject: subject(`address ${address}`), limit: PER_DAY.address },
    { subject: subject(`connection ${connectionId}`), limit: PER_DAY.connection },
  ];
}

/** The address of a client as it is counted. Of IPv6 the first 64 bits: a household or a machine has all that follow (RFC 6177). */
export function countedAddress(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return 'unknown';
  const parsed = ipaddr.process(ip);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
