import type { Snapshot } from '../resources/snapshot.ts';
import { nextBusinessTime } from './businessHours.ts';

/** The fields of an agent that determine when it follows up. */
export type FollowUpSettings = Pick<
  Snapshot,
  | 'followUpEnabled'
  | 'followUpAfterHours'
  | 'followUpInactivityMinutes'
  | 'followUpIntervalMinutes'
  | 'followUpMaxAttempts'
  | 'followUpBusinessHoursStart'
  | 'followUpBusinessHoursEnd'
>;

const MINUTE_MS = 60_000;

/** What determines the next follow-up of a conversation. */
export interface FollowUpState {
  /** Follow-ups sent in the conversation so far. Those that failed do not count. */
  sent: number;
  /** Of the workspace: an IANA name. */
  timeZone: string;
}

/**
 * When the agent writes again if the user stays silent from `from` on; null = not any more, or the feature is off. `after` is the turn
 * that ends at `from`, as in turns.kind: behind a follow-up the interval counts, and behind every other turn the silence begins anew:
 * the later of afterHours and inactivityMinutes, or the interval where neither is set (or only 0 hours, which would be no silence).
 */
export function nextFollowUp(
  settings: FollowUpSettings,
  { from, after, ...state }: FollowUpState & { from: Date; after: 'message' | 'follow_up' | 'continuation' },
): Date | null {
  const interval = settings.followUpIntervalMinutes ?? 0;
  const silence = Math.max((settings.followUpAfterHours ?? 0) * 60, settings.followUpInactivityMinutes ?? 0);
  const minutes = after === 'follow_up' ? interval : silence || interval;
  return allowedFollowUp(settings, { ...state, at: new Date(from.getTime() + minutes * MINUTE_MS) });
}

/**
 * When a follow-up that is due `at` may be sent: then, or at the next start of business hours; null = not at all. Asked again before
 * it is sent, since that may be later than planned, and by another version of the agent.
 */
export function allowedFollowUp(
  settings: FollowUpSettings,
  { at, sent, timeZone }: FollowUpState & { at: Date },
): Date | null {
  const { followUpEnabled, followUpIntervalMinutes, followUpMaxAttempts } = settings;
  // updateAgent refuses follow-ups without the two.
  if (!followUpEnabled || followUpIntervalMinutes === null || sent >= (followUpMaxAttempts ?? 0)) return null;
  const { followUpBusinessHoursStart: start, followUpBusinessHoursEnd: end } = settings;
  return start === null || end === null ? at : nextBusinessTime(at, { start, end }, timeZone);
}
