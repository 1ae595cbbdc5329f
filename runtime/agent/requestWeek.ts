const DAY_MS = 24 * 60 * 60 * 1000;
/** 1970-01-01 was a Thursday. */
const MONDAY_OFFSET = 3;

/** Of the week of the latest turn. Nearly all turns of a process are in it. */
let latest = { monday: Number.NaN, date: '' };

/** The Monday, in UTC, of the week in which a turn began, as a date: its steps are in the partition of that week. */
export function weekOf(turnId: string): string {
  // The first 48 bits of a UUID v7 are milliseconds (RFC 9562, 5.7).
  const days = Math.floor(Number.parseInt(turnId.slice(0, 8) + turnId.slice(9, 13), 16) / DAY_MS);
  const monday = days - ((days + MONDAY_OFFSET) % 7);
  if (monday !== latest.monday) latest = { monday, date: new Date(monday * DAY_MS).toISOString().slice(0, 10) };
  return latest.date;
}
