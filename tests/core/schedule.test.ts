import { ApiError } from '../../core/errors.ts';
import { nextSlot, readSchedule } from '../../core/schedule.ts';

/** The slots from a moment on, as UTC without seconds. */
function slots(expression: string, zone: string | null, after: string, count: number): string[] {
  const schedule = readSchedule(expression, zone);
  const found: string[] = [];
  let at: Date | null = new Date(after);
  while (found.length < count && at !== null) {
    at = nextSlot(schedule, at);
    if (at) found.push(at.toISOString());
  }
  return found.map((slot) => slot.replace(':00.000Z', ''));
}

function codeOf(expression: string, zone: string | null = null): string {
  try {
    readSchedule(expression, zone);
    return 'valid';
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error);
  }
}

describe('changes of clocks', () => {
  // Dates and offsets: the tz database. Each row has the slots around one change.
  test.each([
    // Clocks skip 02:00 to 03:00 at 07:00Z, and show 01:00 to 02:00 twice until 06:00Z and 07:00Z.
    ['30 2 * * *', 'America/New_York', '2026-03-07T08:00Z', ['2026-03-08T07:00', '2026-03-09T06:30']],
    ['*/15 2 * * *', 'America/New_York', '2026-03-07T08:00Z', ['2026-03-08T07:00', '2026-03-09T06:00']],
    ['0 2,3 * * *', 'America/New_York', '2026-03-07T12:00Z', ['2026-03-08T07:00', '2026-03-09T06:00']],
    ['30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
    [
      '*/30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-02T06:00'],
    ],
    ['30 1 * * *', 'America/New_York', '2026-11-01T06:10Z', ['2026-11-02T06:30']],
    // An hourly schedule runs each hour that passes: in both of two equal ones, and not for one that is skipped.
    [
      '0 * * * *',
      'America/New_York',
      '2026-11-01T04:30Z',
      ['2026-11-01T05:00', '2026-11-01T06:00', '2026-11-01T07:00'],
    ],
    ['@hourly', 'America/New_York', '2026-03-08T05:30Z', ['2026-03-08T06:00', '2026-03-08T07:00', '2026-03-08T08:00']],
    ['30 * * * *', 'America/New_York', '2026-03-08T06:00Z', ['2026-03-08T06:30', '2026-03-08T07:30']],
    [
      '*/20 * * * *',
      'America/New_York',
      '2026-11-01T05:30Z',
      ['2026-11-01T05:40', '2026-11-01T06:00', '2026-11-01T06:20', '2026-11-01T06:40'],
    ],
    // 01:00 to 02:00 is skipped at 01:00Z, and shown twice until 01:00Z and 02:00Z.
    ['15 1 * * *', 'Europe/London', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:15']],
    ['15 1 * * *', 'Europe/London', '2026-10-24T12:00Z', ['2026-10-25T00:15', '2026-10-26T01:15']],
    ['0 9 * * *', 'Europe/London', '2026-03-28T08:30Z', ['2026-03-28T09:00', '2026-03-29T08:00']],
    // Half an hour: 02:00 to 02:30 is skipped at 15:30Z, and 01:30 to 02:00 is shown twice around 15:00Z.
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T16:00Z', ['2026-10-03T15:30', '2026-10-04T15:15']],
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-03T16:00Z', ['2026-04-04T14:45', '2026-04-05T15:15']],
    [
      '*/30 * * * *',
      'Australia/Lord_Howe',
      '2026-04-04T14:00Z',
      ['2026-04-04T14:30', '2026-04-04T15:00', '2026-04-04T15:30'],
    ],
    // Midnight itself is skipped at 03:00Z, and 23:00 to 24:00 of the day before is shown twice until 02:00Z and 03:00Z.
    ['@daily', 'America/Sao_Paulo', '2018-11-03T12:00Z', ['2018-11-04T03:00', '2018-11-05T02:00']],
    [
      '0 */6 * * *',
      'America/Sao_Paulo',
      '2018-11-03T20:00Z',
      ['2018-11-03T21:00', '2018-11-04T03:00', '2018-11-04T08:00'],
    ],
    ['30 23 * * *', 'America/Sao_Paulo', '2018-02-17T12:00Z', ['2018-02-18T01:30', '2018-02-19T02:30']],
    // Since 2019 there are no changes.
    ['@daily', 'America/Sao_Paulo', '2026-11-01T12:00Z', ['2026-11-02T03:00', '2026-11-03T03:00']],
    // 02:45 to 03:45 is skipped at 14:00Z, and shown twice until 14:00Z and 15:00Z.
    ['0 3 * * *', 'Pacific/Chatham', '2026-09-25T15:00Z', ['2026-09-26T14:00', '2026-09-27T13:15']],
    ['0 3 * * *', 'Pacific/Chatham', '2026-04-03T15:00Z', ['2026-04-04T13:15', '2026-04-05T14:15']],
    // Dublin's winter time is the exception by law, and its summer time the rule.
    ['30 1 * * *', 'Europe/Dublin', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:30']],
    ['30 1 * * *', 'Europe/Dublin', '2026-10-24T12:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    // Clocks go back to the same evening: the day is begun twice.
    ['30 23 * * *', 'America/Nuuk', '2026-10-24T12:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
  ])('%s in %s after %s', (expression, zone, after, expected) => {
    expect(slots(expression, zone, after, expected.length)).toEqual(expected);
  });

  test('a slot that is asked for at any minute is the same', () => {
    for (const [expression, zone, from] of [
      ['30 1 * * *', 'America/New_York', '2026-10-31T00:00Z'],
      ['30 2 * * *', 'America/New_York', '2026-03-07T00:00Z'],
      ['*/20 * * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z'],
    ] as const) {
      const schedule = readSchedule(expression, zone);
      const begin = new Date(from).getTime();
      let expected = nextSlot(schedule, new Date(begin)) as Date;
      for (let at = begin; at < begin + 48 * 3_600_000; at += 60_000) {
        if (at >= expected.getTime()) expected = nextSlot(schedule, expected) as Date;
        expect(nextSlot(schedule, new Date(at))).toEqual(expected);
      }
    }
  });
});

test.each([
  ['0 9 * * 1-5', null, '2026-11-20T10:00Z', ['2026-11-23T09:00', '2026-11-24T09:00']],
  ['0 9 * * MON,wed,Fri', 'UTC', '2026-11-22T10:00Z', ['2026-11-23T09:00', '2026-11-25T09:00', '2026-11-27T09:00']],
  ['15,45 8-10/2 1 JAN-MAR *', null, '2026-11-22T00:00Z', ['2027-01-01T08:15', '2027-01-01T08:45', '2027-01-01T10:15']],
  [
    '0 0 1,15 * MON',
    null,
    '2026-11-30T12:00Z',
    ['2026-12-01T00:00', '2026-12-07T00:00', '2026-12-14T00:00', '2026-12-15T00:00'],
  ],
  ['0 9 * * 7', null, '2026-11-22T10:00Z', ['2026-11-29T09:00']],
  ['0 0 29 2 *', null, '2026-11-22T10:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['0 18 L * *', null, '2026-11-22T10:00Z', ['2026-11-30T18:00', '2026-12-31T18:00']],
  ['0 9 * * FRI#1', null, '2026-11-22T10:00Z', ['2026-12-04T09:00']],
  ['@weekly', null, '2026-11-22T00:00Z', ['2026-11-29T00:00']],
  ['@monthly', null, '2026-11-22T00:00Z', ['2026-12-01T00:00']],
  ['@YEARLY', null, '2026-11-22T00:00Z', ['2027-01-01T00:00', '2028-01-01T00:00']],
  ['  0   9\t* * *\n', 'europe/berlin', '2026-11-22T10:00Z', ['2026-11-23T08:00']],
])('%s in %s after %s', (expression, zone, after, expected) => {
  expect(slots(expression, zone, after, expected.length)).toEqual(expected);
});

test('the slot after a slot is a later one, and a part of a minute changes nothing', () => {
  const schedule = readSchedule('*/5 * * * *', null);
  const next = (after: string) => nextSlot(schedule, new Date(after))?.toISOString();
  expect(next('2026-11-22T10:00:00.000Z')).toBe('2026-11-22T10:05:00.000Z');
  expect(next('2026-11-22T10:00:00.001Z')).toBe('2026-11-22T10:05:00.000Z');
  expect(next('2026-11-22T09:59:59.999Z')).toBe('2026-11-22T10:00:00.000Z');
});

describe('400 INVALID_CRON', () => {
  test.each([
    '',
    ' ',
    '* * * *',
    '0 0 9 * * *',
    '0 0 9 * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 9 0 * *',
    '0 9 32 * *',
    '0 9 * 13 *',
    '0 9 * * 8',
    '-1 * * * *',
    '1,,2 * * * *',
    '*/0 * * * *',
    '*/90 * * * *',
    '5/15 * * * *',
    '5-1 9 * * *',
    '0 23-1 * * *',
    '0 9 * * XYZ',
    '0 9 ? * *',
    '+1 * * * *',
    '1.5 * * * *',
    '1e1 * * * *',
    '0x1 * * * *',
    '٣ * * * *',
    'every day at nine',
    '@reboot',
    '@every 5m',
    '@hourly @daily',
    '0 9 * * MON,',
    '0 9 * january *',
    // They never match.
    '0 0 31 2 *',
    '0 0 30 2 *',
    '0 0 31 4,6,9,11 *',
  ])('%j', (expression) => {
    expect(codeOf(expression)).toBe('INVALID_CRON');
  });

  test('the message names the field', () => {
    expect(() => readSchedule('0 25 * * *', null)).toThrow('25 is a invalid expression for hour');
    expect(() => readSchedule('0 0 9 * * *', null)).toThrow('It must have five fields.');
  });
});

test.each(['Mars/Olympus', '+02:00', '', 'Europe/Berlin ', 'GMT+25'])('400 INVALID_TIMEZONE: %j', (zone) => {
  expect(codeOf('0 9 * * *', zone)).toBe('INVALID_TIMEZONE');
});
