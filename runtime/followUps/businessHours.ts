import { timeZoneName } from '../../core/timeZone.ts';
import { offsetAt } from '../../integrations/toolkits/builtin/zones.ts';

/** Times of day, `HH:MM:SS`, the start before the end. */
export interface BusinessHours {
  start: string;
  end: string;
}

const DAY_MS = 86_400_000;

/**
 * The first moment from `from` on at which clocks in the zone show business hours, to the end of the last second. Where clocks skip
 * the start, the hours begin right after what is skipped; where they show hours twice, they are hours twice. A name that is no
 * zone (any more) is taken for UTC.
 */
export function nextBusinessTime(from: Date, { start, end }: BusinessHours, timeZone: string): Date {
  const zone = timeZoneName(timeZone) ?? 'UTC';
  const [opens, closes] = [timeOfDay(start), timeOfDay(end) + 1000];
  let at = from.getTime();
  // Each round is a stretch of time without a change of clocks.
  for (;;) {
    const offset = offsetAt(new Date(at), zone);
    const midnight = Math.floor((at + offset) / DAY_MS) * DAY_MS;
    const now = at + offset - midnight;
    if (now >= opens && now < closes) return new Date(at);
    const opening = midnight + (now < opens ? 0 : DAY_MS) + opens - offset;
    if (offsetAt(new Date(opening), zone) === offset) return new Date(opening);
    at = changeOfClocks(at, opening, zone);
  }
}

/** The first moment at which the offset is no longer that of `before`; it is another one at `after`. */
function changeOfClocks(before: number, after: number, zone: string): number {
  const offset = offsetAt(new Date(before), zone);
  let [same, other] = [before, after];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(new Date(middle), zone) === offset) same = middle;
    else other = middle;
  }
  return other;
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}
