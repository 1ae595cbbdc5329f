import { Temporal } from 'temporal-polyfill';
import { timeZoneName } from '../../core/timeZone.ts';

/**
 * The moment `months` whole months after `anchor`, by the clocks of a time zone: the same day of the month, or the last one of a shorter month,
 * at the same time of day. So 31 January gives 28 February, and 31 March after it, as long as each is counted from the anchor. Where clocks
 * skip the time of day it is as much later as they skip, and where they show it twice it is the first one. A name that is no zone (any more) is taken for UTC.
 */
export function addMonths(anchor: Date, months: number, timeZone: string): Date {
  return new Date(zoned(anchor, timeZone).add({ months }).epochMilliseconds);
}

/** The first of the moments `anchor`, `anchor` + `every` months, `anchor` + 2 `every` months, … that lies after `after`. */
export function nextOccurrence(anchor: Date, every: number, after: Date, timeZone: string): Date {
  if (after < anchor) return anchor;
  const start = zoned(anchor, timeZone);
  const { months } = start.until(zoned(after, timeZone), { largestUnit: 'month' });
  // `until` counts from the end of a shorter month in its own way, so the round before is looked at as well.
  for (let round = Math.max(0, Math.floor(months / every) - 1); ; round += 1) {
    const at = new Date(start.add({ months: round * every }).epochMilliseconds);
    if (at > after) return at;
  }
}

function zoned(at: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZoneName(timeZone) ?? 'UTC');
}
