import { ToolRefusal } from './tool.ts';

/** A date and time on a wall, without a zone. `millisecond` aside, as people write them. */
interface WallTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const kept = formats.get(zone);
  if (kept) return kept;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
    era: 'short',
  } as Intl.DateTimeFormatOptions);
  // Zones are few, but their spellings are many: Intl ignores case.
  if (formats.size < 1000) formats.set(zone, format);
  return format;
}

/** The zone under its usual spelling. Throws ToolRefusal when the machine's tz database has no such zone. */
export function checkedZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    throw new ToolRefusal(`"${zone}" is no time zone. Use an IANA name such as Europe/Berlin, or UTC.`);
  }
}

function partsOf(instant: Date, zone: string): Record<string, string> {
  return Object.fromEntries(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
}

/** How far the zone is ahead of UTC at an instant, in milliseconds. */
export function offsetAt(instant: Date, zone: string): number {
  const name = partsOf(instant, zone).timeZoneName ?? 'GMT';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(name) ?? [];
  const ahead = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ahead : ahead;
}

function offsetText(offset: number): string {
  const seconds = Math.abs(offset) / 1000;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = seconds % 60 === 0 ? '' : `:${two(seconds % 60)}`;
  return `${offset < 0 ? '-' : '+'}${two(seconds / 3600)}:${two((seconds / 60) % 60)}${rest}`;
}

/** An instant as clocks in the zone show it: ISO 8601 with the offset, and what a reader wants beside it. */
export function shownIn(instant: Date, zone: string) {
  const offset = offsetAt(instant, zone);
  const local = new Date(instant.getTime() + offset)
    .toISOString()
    .slice(0, -1)
    .replace(/\.000$/, '');
  return {
    time: local + offsetText(offset),
    timeZone: zone,
    utcOffset: offsetText(offset),
    weekday: partsOf(instant, zone).weekday ?? '',
    unixSeconds: Math.floor(instant.getTime() / 1000),
  };
}

const WRITTEN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

function readWallTime(text: string): { wall: WallTime; offset: string | undefined } {
  const match = WRITTEN.exec(text.trim());
  if (!match)
    throw new ToolRefusal(`"${text}" is no time. Write it as 2026-03-29T02:30:00, with Z or +02:00 when known.`);
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  const number = (digits: string | undefined) => Number(digits ?? 0);
  const wall: WallTime = {
    year: number(year),
    month: number(month),
    day: number(day),
    hour: number(hour),
    minute: number(minute),
    second: number(second),
    millisecond: Number((fraction ?? '').padEnd(3, '0').slice(0, 3)),
  };
  const same = new Date(asUtc(wall));
  const exists =
    same.getUTCMonth() + 1 === wall.month &&
    same.getUTCDate() === wall.day &&
    same.getUTCHours() === wall.hour &&
    same.getUTCMinutes() === wall.minute &&
    same.getUTCSeconds() === wall.second;
  if (!exists) throw new ToolRefusal(`"${text}" is no date and time of the calendar.`);
  return { wall, offset };
}

function asUtc({ year, month, day, hour, minute, second, millisecond }: WallTime): number {
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second, millisecond);
}

/** A moment in time, and what is odd about how it was written. */
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
  const { wall, offset } = readWallTime(text);
  const wanted = asUtc(wall);
  if (offset !== undefined) return { instant: new Date(wanted - readOffset(offset)) };
  // Offsets a day before and after: a change of clocks within lies between these two.
  const before = offsetAt(new Date(wanted - 86_400_000), zone);
  const after = offsetAt(new Date(wanted + 86_400_000), zone);
  const fitting = [...new Set([before, after])].filter((ahead) => offsetAt(new Date(wanted - ahead), zone) === ahead);
  const [first, second] = fitting.map((ahead) => wanted - ahead).sort((a, b) => a - b);
  if (first === undefined) {
    const note = `Clocks in ${zone} skip this time, as they are put forward then; the time after the change is meant.`;
    return { instant: new Date(wanted - before), note };
  }
  if (second === undefined) return { instant: new Date(first) };
  return {
    instant: new Date(first),
    note: `Clocks in ${zone} show this time twice, as they are put back then; the first of the two is meant.`,
  };
}

function readOffset(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  if (Number(hours) > 23 || Number(minutes) > 59) throw new ToolRefusal(`"${text}" is no offset from UTC.`);
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -ahead : ahead;
}
