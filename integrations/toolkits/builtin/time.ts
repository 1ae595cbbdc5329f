import { z } from 'zod';
import { type RegisterTools, registerTool, ToolRefusal } from './tool.ts';
import { checkedZone, readTime, shownIn } from './zones.ts';

const zone = z.string().min(1).max(100);
const time = z.string().min(1).max(60);
const WRITING = 'ISO 8601, such as 2026-03-29T14:30:00; with Z or an offset it is that instant';

/** Refuses instants that Date cannot hold once an offset is added. */
function checkedInstant(instant: Date): Date {
  if (Math.abs(instant.getTime()) > 8.6e15) throw new ToolRefusal('The time is out of range.');
  return instant;
}

/** Days, hours, minutes and seconds between two instants, largest first. */
function inWords(milliseconds: number): string {
  const total = Math.floor(Math.abs(milliseconds) / 1000);
  const units: [string, number][] = [
    ['day', Math.floor(total / 86_400)],
    ['hour', Math.floor(total / 3600) % 24],
    ['minute', Math.floor(total / 60) % 60],
    ['second', total % 60],
  ];
  const shown = units
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}${count === 1 ? '' : 's'}`);
  return shown.join(', ') || '0 seconds';
}

const MAX_ZONES = 50;

/** Registers tools for time and time zones, with the tz database of the runtime. */
export const registerTime: RegisterTools = (server, host) => {
  registerTool(
    server,
    host,
    {
      name: 'current_time',
      title: 'Current time',
      description: 'Tells the date, time, weekday and UTC offset of now in a time zone.',
      input: z.object({ timeZone: zone.default('UTC').describe('IANA time zone, such as Europe/Berlin') }),
    },
    ({ timeZone }) => shownIn(host.context().clock.now(), checkedZone(timeZone)),
  );
  registerTool(
    server,
    host,
    {
      name: 'convert_time',
      title: 'Convert time',
      description: 'Converts a time from one time zone to another, with daylight saving time of that date.',
      input: z.object({
        time: time.describe(`The time to convert. ${WRITING}, and fromTimeZone does not matter`),
        fromTimeZone: zone.default('UTC').describe('IANA time zone that the time is in'),
        toTimeZone: zone.describe('IANA time zone to convert to'),
      }),
    },
    ({ time: text, fromTimeZone, toTimeZone }) => {
      const from = checkedZone(fromTimeZone);
      const to = checkedZone(toTimeZone);
      const { instant, note } = readTime(text, from);
      checkedInstant(instant);
      return { from: shownIn(instant, from), to: shownIn(instant, to), ...(note === undefined ? {} : { note }) };
    },
  );
  registerTool(
    server,
    host,
    {
      name: 'time_difference',
      title: 'Time difference',
      description: 'Tells how much time passes from one time to another; negative when the second is earlier.',
      input: z.object({
        from: time.describe(`The first time. ${WRITING}`),
        to: time.optional().describe('The second time, likewise; now when it is left out'),
        timeZone: zone.default('UTC').describe('IANA time zone of times without an offset'),
      }),
    },
    ({ from, to, timeZone }) => {
      const known = checkedZone(timeZone);
      const first = readTime(from, known);
      const second = to === undefined ? { instant: host.context().clock.now() } : readTime(to, known);
      const milliseconds = checkedInstant(second.instant).getTime() - checkedInstant(first.instant).getTime();
      const notes = [first.note, 'note' in second ? second.note : undefined].filter((note) => note !== undefined);
      return {
        seconds: milliseconds / 1000,
        hours: milliseconds / 3_600_000,
        days: milliseconds / 86_400_000,
        words: (milliseconds < 0 ? 'minus ' : '') + inWords(milliseconds),
        ...(notes.length === 0 ? {} : { notes }),
      };
    },
  );
  registerTool(
    server,
    host,
    {
      name: 'find_time_zones',
      title: 'Find time zones',
      description: `Lists IANA time zones whose name contains a text, such as a city, at most ${MAX_ZONES}.`,
      input: z.object({ search: z.string().max(100).default('').describe('Part of the name; any case') }),
    },
    ({ search }) => {
      const wanted = search.trim().replaceAll(' ', '_').toLowerCase();
      const zones = Intl.supportedValuesOf('timeZone').filter((name) => name.toLowerCase().includes(wanted));
      return { total: zones.length, timeZones: zones.slice(0, MAX_ZONES) };
    },
  );
};
