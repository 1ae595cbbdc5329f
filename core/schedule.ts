import { Cron } from 'croner';
import nodeCron from 'node-cron';
import { fault } from './errors.ts';
import { timeZoneName } from './timeZone.ts';

/** When something happens again and again, by the clocks of a time zone. Made by `readSchedule`. */
export interface Schedule {
  /** In croner's words, with the rule for changes of clocks that decision 44 names. */
  readonly cron: Cron;
  /** IANA name. */
  readonly timeZone: string;
}

/** The time zone of a schedule that names none. */
export const DEFAULT_TIME_ZONE = 'UTC';

/** crontab(5): the short names of the usual schedules. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

/** Five fields of numbers, names, lists, ranges and steps; also L (last), W (working day) and # (which one of the month). */
const FIELDS = /^[A-Za-z0-9*,/#-]+(?: [A-Za-z0-9*,/#-]+){4}$/;
const HOURS = 24;

/**
 * Reads a cron expression of five fields, or one of `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`, for the clocks of a time
 * zone; null = UTC. Throws INVALID_CRON, also for an expression that never matches, and INVALID_TIMEZONE.
 */
export function readSchedule(expression: string, zone: string | null): Schedule {
  const timeZone = timeZoneName(zone ?? DEFAULT_TIME_ZONE);
  if (timeZone === undefined) throw fault('INVALID_TIMEZONE');
  const cron = readCron(expression.trim().replaceAll(/\s+/g, ' '), timeZone);
  if (cron.nextRun(new Date(0)) === null) throw invalidCron('It never matches.');
  return { cron, timeZone };
}

/**
 * The first slot of the schedule after a moment, in whole minutes; null when there is none any more. A local time that clocks skip
 * becomes the first one after the gap, and a local time that they show twice is one slot, the first time. Schedules of every hour are
 * intervals: they have slots in both of two equal hours, and none in a gap.
 */
export function nextSlot({ cron }: Schedule, after: Date): Date | null {
  return cron.nextRun(after);
}

function readCron(written: string, timezone: string): Cron {
  const expression = SHORT_NAMES[written.toLowerCase()] ?? written;
  if (written.startsWith('@') && expression === written)
    throw invalidCron('It must be one of the names that are known.');
  if (!FIELDS.test(expression)) throw invalidCron('It must have five fields.');
  try {
    // As it is written: croner refuses steps that are longer than their field, which the lists would hide.
    new Cron(expression, { mode: '5-part', paused: true });
    return new Cron(withLists(expression), { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
  } catch (error) {
    throw invalidCron(reasonOf(expression, error));
  }
}

/**
 * The same expression with lists of minutes and hours. croner takes a field with a step for an interval, which has no slot in a gap, and
 * lists for times of the clocks. Every hour stays a star, an interval.
 */
function withLists(expression: string): string {
  const { minute, hour } = nodeCron.parse(expression);
  const days = expression.split(' ').slice(2);
  return [minute.join(','), hour.length === HOURS ? '*' : hour.join(','), ...days].join(' ');
}

/** What is wrong with an expression: node-cron names the field, and croner knows a few more rules. */
function reasonOf(expression: string, error: unknown): string {
  const [first] = nodeCron.validateDetailed(expression).errors;
  return first ? `${first.message}.` : Error.isError(error) ? `${error.message}.` : '';
}

function invalidCron(reason: string): Error {
  return fault('INVALID_CRON', `The schedule is not a valid cron expression. ${reason}`.trim());
}
