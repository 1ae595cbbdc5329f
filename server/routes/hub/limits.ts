import { createHash } from 'node:crypto';
import type { Clock } from '../../../core/clock.ts';
import { MinuteWindows } from '../../api/minuteWindows.ts';
import { countedAddress, tooMany } from '../chat/limits.ts';

/** What is counted: pages, links with a secret, forms that send a mail, and purchases. */
export type HubLimitKind = 'page' | 'link' | 'mail' | 'checkout';

/** Most in a minute and process, for an address and for a hub. Many people may share one address: an office, a mobile network. */
const PER_MINUTE: Readonly<Record<HubLimitKind, { address: number; hub: number }>> = {
  page: { address: 300, hub: 6000 },
  link: { address: 60, hub: 1200 },
  mail: { address: 10, hub: 300 },
  checkout: { address: 20, hub: 300 },
};
/** Mails that are asked for one address of a mailbox in a minute. */
const MAILS_PER_MINUTE = 3;

/** Counts what visitors of hubs do. One instance a process. */
export class HubLimits {
  readonly #windows: MinuteWindows;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#windows = new MinuteWindows(clock);
  }

  /** Counts one for the address of a visitor, also where there is no hub. Throws RATE_LIMITED with `Retry-After`. */
  takeAddress(kind: HubLimitKind, ip: string | undefined): void {
    this.#take(`${kind} address ${countedAddress(ip)}`, PER_MINUTE[kind].address);
  }

  /** Counts one for a hub. Throws RATE_LIMITED with `Retry-After`. */
  takeHub(kind: HubLimitKind, workspaceId: string): void {
    this.#take(`${kind} hub ${workspaceId}`, PER_MINUTE[kind].hub);
  }

  /** Counts a mail that is asked for. False when the mailbox has had its share: nobody is told, since that would say who is known. */
  takeMail(workspaceId: string, email: string): boolean {
    const of = createHash('sha256').update(`${workspaceId} ${email.toLowerCase()}`).digest('base64');
    return this.#windows.take(`mail ${of}`, MAILS_PER_MINUTE) === undefined;
  }

  #take(key: string, limit: number): void {
    const seconds = this.#windows.take(key, limit);
    if (seconds !== undefined) throw tooMany(seconds);
  }
}
