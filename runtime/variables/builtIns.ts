/** Names that a prompt can refer to without a variable: `{{current_date}}` and so on. A variable of an agent with such a name counts instead. */
export const BUILT_IN_NAMES = ['current_date', 'current_time', 'time_zone'] as const;

/** The values of the names that every prompt has. */
export type BuiltInValues = Readonly<Record<(typeof BUILT_IN_NAMES)[number], string>>;

/** A moment as people in a time zone read it. */
interface LocalTime {
  /** In English. */
  weekday: string;
  /** YYYY-MM-DD. */
  date: string;
  /** HH:MM, 00:00 to 23:59. */
  time: string;
  /** Difference from UTC: `UTC+01:00`. */
  offset: string;
}

/** Making one takes 50 µs. There are some 600 zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  formats.set(timeZone, made);
  return made;
}

const MINUTE_MS = 60_000;
/** The latest minute of each zone. Writing one takes 30 µs, and many turns of one minute need it. No offset has seconds since 1972. */
const latest = new Map<string, { minute: number; time: LocalTime }>();

/** `timeZone` is an IANA name. Throws RangeError for one that is not known. */
function localTime(at: Date, timeZone: string): LocalTime {
  const minute = Math.floor(at.getTime() / MINUTE_MS);
  const known = latest.get(timeZone);
  if (known?.minute === minute) return known.time;
  const time = writtenTime(at, timeZone);
  latest.set(timeZone, { minute, time });
  return time;
}

function writtenTime(at: Date, timeZone: string): LocalTime {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const { weekday = '', year = '', month, day, hour, minute, timeZoneName = '' } = parts;
  return {
    weekday,
    date: `${year.padStart(4, '0')}-${month}-${day}`,
    time: `${hour}:${minute}`,
    offset: timeZoneName.replace('GMT', 'UTC'),
  };
}

/** The values of the built-in names at a moment, in a zone. */
export function builtInValues(at: Date, timeZone: string): BuiltInValues {
  const { date, time } = localTime(at, timeZone);
  return { current_date: date, current_time: time, time_zone: timeZone };
}

/** The present for a model, in one line: `Now: Monday, 2026-11-23, 14:05, Europe/Berlin (UTC+01:00).` */
export function presentLine(at: Date, timeZone: string): string {
  const { weekday, date, time, offset } = localTime(at, timeZone);
  return `Now: ${weekday}, ${date}, ${time}, ${timeZone}${timeZone === 'UTC' ? '' : ` (${offset})`}.`;
}
