import { Temporal } from 'temporal-polyfill';
import { ToolRefusal } from './tool.ts';

/** Returns the zone under its usual spelling. Throws ToolRefusal when the machine's tz database has no such zone. */
export function checkedZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    throw new ToolRefusal(`"${zone}" is no time zone. Use an IANA name such as Europe/Berlin, or UTC.`);
  }
}

/** An instant as the clocks of a zone show it. */
export interface ShownTime {
  /** ISO 8601 with the offset. */
  time: string;
  timeZone: string;
  utcOffset: string;
  /** In English. */
  weekday: string;
  unixSeconds: number;
}

/** Shows an instant in a zone. */
export function shownIn(instant: Date, zone: string): ShownTime {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone);
  const fractionalSecondDigits = local.millisecond === 0 ? 0 : 3;
  return {
    // ZonedDateTime's own text rounds old offsets to minutes.
    time: local.toPlainDateTime().toString({ fractionalSecondDigits }) + local.offset,
    timeZone: zone,
    utcOffset: local.offset,
    weekday: local.toLocaleString('en-US', { weekday: 'long' }),
    unixSeconds: Math.floor(instant.getTime() / 1000),
  };
}

/** How people and models write times. Temporal itself takes more forms, such as weeks and years of six digits. */
const WRITTEN_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?))?\s*(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;

interface WrittenTime {
  local: Temporal.PlainDateTime;
  offset: string | undefined;
}

function parseTime(text: string): WrittenTime {
  const match = WRITTEN_TIME.exec(text.trim());
  if (!match)
    throw new ToolRefusal(`"${text}" is no time. Write it as 2026-03-29T02:30:00, with Z or +02:00 when known.`);
  const [, date, time = '00:00', offset] = match;
  // Temporal takes the second 60 for 59.
  if (/^..:..:60/.test(time)) throw new ToolRefusal(`"${text}" is no date and time of the calendar.`);
  try {
    const exact = Temporal.PlainDateTime.from(`${date}T${time.replace(',', '.')}`, { overflow: 'reject' });
    return { local: exact.round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }), offset };
  } catch {
    throw new ToolRefusal(`"${text}" is no date and time of the calendar.`);
  }
}

/** A parsed time, with a note where clocks skip it or show it twice. */
export interface Reading {
  instant: Date;
  note?: string;
}

/**
 * Reads a time. With an offset it is that instant; without one it is what clocks in the zone show. Where they were put forward
 * and skip it, it is later by what was skipped; where they were put back and show it twice, it is the first of the two. Both as
 * RFC 5545 and Temporal's `compatible` have it. Throws ToolRefusal.
 */
export function readTime(text: string, zone: string): Reading {
  const { local, offset } = parseTime(text);
  if (offset !== undefined) {
    return { instant: new Date(Temporal.Instant.from(`${local}${offset}`).epochMilliseconds) };
  }
  const read = local.toZonedDateTime(zone, { disambiguation: 'compatible' });
  const instant = new Date(read.epochMilliseconds);
  if (!read.toPlainDateTime().equals(local)) {
    const note = `Clocks in ${zone} skip this time, as they are put forward then; the time after the change is meant.`;
    return { instant, note };
  }
  if (read.equals(local.toZonedDateTime(zone, { disambiguation: 'later' }))) return { instant };
  return {
    instant,
    note: `Clocks in ${zone} show this time twice, as they are put back then; the first of the two is meant.`,
  };
}
