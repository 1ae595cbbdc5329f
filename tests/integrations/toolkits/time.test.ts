import { callBuiltinTool } from '../../../integrations/toolkits/builtin/provider.ts';
import type { ToolContext } from '../../../integrations/toolkits/toolkits.ts';

const NOW = new Date('2026-07-01T12:00:00.250Z');
const context = { clock: { now: () => NOW } } as ToolContext;

async function call(name: string, args: Record<string, unknown>) {
  return callBuiltinTool('time', { name, arguments: args }, { context, allowPrivateNetwork: false });
}

async function answer(name: string, args: Record<string, unknown>) {
  const { isError, text } = await call(name, args);
  expect({ isError, text }).toMatchObject({ isError: false });
  return JSON.parse(text);
}

describe('current_time', () => {
  test.each([
    ['UTC', '2026-07-01T12:00:00.250+00:00', 'Wednesday'],
    ['Europe/Berlin', '2026-07-01T14:00:00.250+02:00', 'Wednesday'],
    ['America/St_Johns', '2026-07-01T09:30:00.250-02:30', 'Wednesday'],
    ['Pacific/Kiritimati', '2026-07-02T02:00:00.250+14:00', 'Thursday'],
    ['Asia/Kathmandu', '2026-07-01T17:45:00.250+05:45', 'Wednesday'],
  ])('in %s', async (timeZone, time, weekday) => {
    expect(await answer('current_time', { timeZone })).toMatchObject({ time, weekday, unixSeconds: 1782907200 });
  });

  test('is in UTC when no zone is named, and a zone is spelled as usual', async () => {
    expect(await answer('current_time', {})).toMatchObject({ timeZone: 'UTC', utcOffset: '+00:00' });
    expect(await answer('current_time', { timeZone: 'europe/berlin' })).toMatchObject({ timeZone: 'Europe/Berlin' });
  });

  test.each(['Mars/Olympus', '', 'Berlin; drop table'])('%j is no time zone', async (timeZone) => {
    expect(await call('current_time', { timeZone })).toMatchObject({ isError: true });
  });
});

describe('convert_time', () => {
  test.each([
    // [time, from, to, expected]
    ['2026-01-15T12:00', 'Europe/Berlin', 'America/New_York', '2026-01-15T06:00:00-05:00'],
    ['2026-07-15 12:00:30', 'Europe/Berlin', 'America/New_York', '2026-07-15T06:00:30-04:00'],
    // Three weeks in which only one of the two has daylight saving time.
    ['2026-03-15T12:00:00', 'Europe/Berlin', 'America/New_York', '2026-03-15T07:00:00-04:00'],
    ['2026-07-15T12:00:00Z', 'Asia/Tokyo', 'Europe/London', '2026-07-15T13:00:00+01:00'],
    ['2026-07-15T12:00:00+05:30', 'UTC', 'Asia/Kolkata', '2026-07-15T12:00:00+05:30'],
    ['2026-07-15', 'Asia/Tokyo', 'UTC', '2026-07-14T15:00:00+00:00'],
    ['1971-01-01T00:00:00', 'Africa/Monrovia', 'UTC', '1971-01-01T00:44:30+00:00'],
    ['2024-02-29T23:59:59', 'UTC', 'Australia/Lord_Howe', '2024-03-01T10:59:59+11:00'],
    ['0099-06-01T00:00:00Z', 'UTC', 'UTC', '0099-06-01T00:00:00+00:00'],
  ])('%s in %s is in %s %s', async (time, fromTimeZone, toTimeZone, expected) => {
    const { to, note } = await answer('convert_time', { time, fromTimeZone, toTimeZone });
    expect(to.time).toBe(expected);
    expect(note).toBeUndefined();
  });

  test('a time that clocks skip is later by what they skip, and is remarked', async () => {
    const args = { time: '2026-03-29T02:30:00', fromTimeZone: 'Europe/Berlin', toTimeZone: 'UTC' };
    expect(await answer('convert_time', args)).toMatchObject({
      from: { time: '2026-03-29T03:30:00+02:00' },
      to: { time: '2026-03-29T01:30:00+00:00' },
      note: expect.stringContaining('skip'),
    });
  });

  test('a time that clocks show twice is the first of the two, and is remarked', async () => {
    const args = { time: '2026-10-25T02:30:00', fromTimeZone: 'Europe/Berlin', toTimeZone: 'UTC' };
    expect(await answer('convert_time', args)).toMatchObject({
      from: { time: '2026-10-25T02:30:00+02:00' },
      to: { time: '2026-10-25T00:30:00+00:00' },
      note: expect.stringContaining('twice'),
    });
  });

  test.each(['2026-02-30', '2026-13-01', '2026-01-01T24:01', 'tomorrow', '2026-01-01T00:00+99:00', '1/2/2026', ''])(
    '%j is no time',
    async (time) => {
      expect(await call('convert_time', { time, toTimeZone: 'UTC' })).toMatchObject({ isError: true });
    },
  );

  test('agrees with the clocks of a zone at every hour around their changes', async () => {
    const { readTime, shownIn } = await import('../../../integrations/toolkits/builtin/zones.ts');
    const days: [string, number][] = [
      ['Europe/Berlin', Date.UTC(2026, 2, 28)],
      ['Europe/Berlin', Date.UTC(2026, 9, 24)],
      ['America/New_York', Date.UTC(2026, 2, 7)],
      ['America/New_York', Date.UTC(2026, 9, 31)],
      ['Australia/Lord_Howe', Date.UTC(2026, 3, 3)],
      ['Australia/Lord_Howe', Date.UTC(2026, 9, 2)],
      ['Africa/Casablanca', Date.UTC(2026, 1, 14)],
      ['Asia/Tehran', Date.UTC(2022, 8, 20)],
    ];
    for (const [zone, start] of days) {
      for (let at = start; at < start + 3 * 86_400_000; at += 1_800_000) {
        const { time } = shownIn(new Date(at), zone);
        const { instant, note } = readTime(time.slice(0, 19), zone);
        // Where the clocks show it twice, the first of the two is read.
        if (note === undefined) expect(instant.getTime()).toBe(at);
        else expect([at, at - 3_600_000, at - 1_800_000]).toContain(instant.getTime());
      }
    }
  });
});

describe('time_difference', () => {
  test('counts the time that really passes, with a change of clocks', async () => {
    const args = { from: '2026-03-28T12:00:00', to: '2026-03-29T12:00:00', timeZone: 'Europe/Berlin' };
    expect(await answer('time_difference', args)).toEqual({
      seconds: 82_800,
      hours: 23,
      days: 23 / 24,
      words: '23 hours',
    });
  });

  test('is negative when the second is earlier, and uses now when it is left out', async () => {
    expect(await answer('time_difference', { from: '2026-07-03T13:01:02Z', to: '2026-07-01T12:00:00Z' })).toMatchObject(
      {
        seconds: -176_462,
        words: 'minus 2 days, 1 hour, 1 minute, 2 seconds',
      },
    );
    expect(await answer('time_difference', { from: '2026-07-01T11:00:00.250Z' })).toMatchObject({ hours: 1 });
    expect(await answer('time_difference', { from: '2026-07-01', to: '2026-07-01' })).toMatchObject({
      words: '0 seconds',
    });
  });
});

test('find_time_zones finds zones by a part of their name', async () => {
  expect(await answer('find_time_zones', { search: 'new york' })).toEqual({
    total: 1,
    timeZones: ['America/New_York'],
  });
  const all = await answer('find_time_zones', {});
  expect(all.total).toBeGreaterThan(300);
  expect(all.timeZones).toHaveLength(50);
});
