import { Temporal } from 'temporal-polyfill';
import { timeZoneName } from '../../core/timeZone.ts';

/** Times of day, `HH:MM:SS`, the start before the end. */
export interface BusinessHours {
  start: string;
  end: string;
}

/**
 * The first moment from `from` on at which clocks in the zone show business hours, to the end of the last second. Where clocks skip
 * the start, the hours begin right after what is skipped; where they show hours twice, they are hours twice. A name that is no
 * zone (any more) is taken for UTC.
 */
export function nextBusinessTime(from: Date, { start, end }: BusinessHours, timeZone: string): Date {
  const opens = Temporal.PlainTime.from(start);
  const closes = Temporal.PlainTime.from(end).with({ millisecond: 999, microsecond: 999, nanosecond: 999 });
  const { compare } = Temporal.PlainTime;
  let at = Temporal.Instant.fromEpochMilliseconds(from.getTime()).toZonedDateTimeISO(timeZoneName(timeZone) ?? 'UTC');
  // Each round is a stretch of time without a change of clocks.
  for (;;) {
    const now = at.toPlainTime();
    if (compare(now, opens) >= 0 && compare(now, closes) <= 0) return new Date(at.epochMilliseconds);
    const day = at.toPlainDate().add({ days: compare(now, opens) < 0 ? 0 : 1 });
    const local = day.toPlainDateTime(opens);
    let opening = local.toZonedDateTime(at.timeZoneId);
    // It is shown twice, and the first time has passed.
    if (Temporal.ZonedDateTime.compare(opening, at) < 0) {
      opening = local.toZonedDateTime(at.timeZoneId, { disambiguation: 'later' });
    }
    const change = opening.offsetNanoseconds === at.offsetNanoseconds ? null : at.getTimeZoneTransition('next');
    if (change === null) return new Date(opening.epochMilliseconds);
    at = change;
  }
}
