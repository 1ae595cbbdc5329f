/** What grants credits that were paid for: one payment grants once, whatever tells of it. Refunds name it by the same key. */
export const grantKeyOf = {
  invoice: (id: string) => `invoice:${id}`,
  checkout: (id: string) => `checkout:${id}`,
};

/** What became of an event. */
export type EventOutcome = { status: 'applied' } | { status: 'ignored'; reason: string };

export const APPLIED: EventOutcome = { status: 'applied' };

/** An event that changes nothing, and why. */
export const ignoredEvent = (reason: string): EventOutcome => ({ status: 'ignored', reason });
