import type { Snapshot } from '../resources/snapshot.ts';

type Tier = 'LOW' | 'MEDIUM' | 'HIGH';

/** A typing speed, and the shortest and longest wait before a message. */
interface Pace {
  charactersPerSecond: number;
  minMs: number;
  maxMs: number;
}

/**
 * A sentence of 100 characters takes 2 seconds with LOW, 5 with MEDIUM and 10 with HIGH. The longest wait is limited so that a long
 * answer does not seem lost.
 */
const PACES: Record<Tier, Pace> = {
  LOW: { charactersPerSecond: 50, minMs: 500, maxMs: 4_000 },
  MEDIUM: { charactersPerSecond: 20, minMs: 1_000, maxMs: 10_000 },
  HIGH: { charactersPerSecond: 10, minMs: 2_000, maxMs: 20_000 },
};
const TIERS = Object.keys(PACES) as Tier[];

/**
 * Milliseconds to wait before each message of an answer is sent on a channel, counted from the one before it; the API never waits.
 * They follow from the length of the message at the typing speed of the agent's tier, within its bounds; a tier that is not set
 * is MEDIUM. `random` gives a number from 0 to below 1, by which RANDOM picks one tier for the whole answer. All 0 when the
 * feature is off.
 */
export function replyDelays(
  { messageDelayEnabled, messageDelayType }: Pick<Snapshot, 'messageDelayEnabled' | 'messageDelayType'>,
  messages: readonly string[],
  random: () => number,
): number[] {
  if (!messageDelayEnabled) return messages.map(() => 0);
  const tier = messageDelayType === 'RANDOM' ? TIERS[Math.floor(random() * TIERS.length)] : messageDelayType;
  const { charactersPerSecond, minMs, maxMs } = PACES[tier ?? 'MEDIUM'];
  return messages.map((message) => {
    const typing = Math.round(([...message].length / charactersPerSecond) * 1000);
    return Math.min(Math.max(typing, minMs), maxMs);
  });
}
