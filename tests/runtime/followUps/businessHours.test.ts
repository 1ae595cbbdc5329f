import { nextBusinessTime } from '../../../runtime/followUps/businessHours.ts';
import { seeded } from '../replies/replies.ts';

const next = (from: string, start: string, end: string, zone: string) =>
  nextBusinessTime(new Date(from), { start, end }, zone).toISOString().replace('.000Z', 'Z');

const NINE_TO_SIX = ['09:00:00', '18:00:00'] as const;

describe('hours in a zone', () => {
  test.each([
    // [zone, from, when]; within, before and after the hours
    ['UTC', '2026-05-05T12:00:00Z', '2026-05-05T12:00:00Z'],
    ['UTC', '2026-05-05T08:59:59.999Z', '2026-05-05T09:00:00Z'],
    ['UTC', '2026-05-05T18:00:01Z', '2026-05-06T09:00:00Z'],
    ['America/Sao_Paulo', '2026-05-05T11:59:00Z', '2026-05-05T12:00:00Z'],
    ['America/Sao_Paulo', '2026-05-05T21:30:00Z', '2026-05-06T12:00:00Z'],
    ['America/New_York', '2026-01-05T02:00:00Z', '2026-01-05T14:00:00Z'],
    ['America/New_York', '2026-07-05T02:00:00Z', '2026-07-05T13:00:00Z'],
    ['Asia/Kolkata', '2026-05-05T00:00:00Z', '2026-05-05T03:30:00Z'],
    ['Asia/Kolkata', '2026-05-05T12:31:00Z', '2026-05-06T03:30:00Z'],
    ['Australia/Lord_Howe', '2026-01-31T12:00:00Z', '2026-01-31T22:00:00Z'],
    ['Australia/Lord_Howe', '2026-07-31T12:00:00Z', '2026-07-31T22:30:00Z'],
    // The next day is in another year.
    ['Asia/Kolkata', '2026-12-31T12:31:00Z', '2027-01-01T03:30:00Z'],
  ])('%s, from %s', (zone, from, when) => {
    expect(next(from, ...NINE_TO_SIX, zone)).toBe(when);
  });

  test('begin with the first second and end with the last, which counts to its end', () => {
    expect(next('2026-05-05T09:00:00Z', ...NINE_TO_SIX, 'UTC')).toBe('2026-05-05T09:00:00Z');
    expect(next('2026-05-05T18:00:00.999Z', ...NINE_TO_SIX, 'UTC')).toBe('2026-05-05T18:00:00.999Z');
  });

  test('of the whole day hold nothing back', () => {
    for (const from of ['2026-05-05T23:59:59.999Z', '2026-05-06T00:00:00Z', '2026-05-06T03:30:00Z'])
      expect(next(from, '00:00:00', '23:59:59', 'UTC')).toBe(from.replace('.000Z', 'Z'));
  });

  test('that end at midnight let the last second pass, and then wait for the next start', () => {
    expect(next('2026-05-05T18:29:59.500Z', '22:00:00', '23:59:59', 'Asia/Kolkata')).toBe('2026-05-05T18:29:59.500Z');
    expect(next('2026-05-05T18:30:00Z', '22:00:00', '23:59:59', 'Asia/Kolkata')).toBe('2026-05-06T16:30:00Z');
  });

  test('are UTC where the name is no zone', () => {
    for (const zone of ['Mars/Olympus', '', '+05:00'])
      expect(next('2026-05-05T01:00:00Z', ...NINE_TO_SIX, zone)).toBe('2026-05-05T09:00:00Z');
  });
});

describe('where clocks are put forward', () => {
  test.each([
    [
      'from before to after the change',
      'America/New_York',
      '2026-03-08T03:00:00Z',
      NINE_TO_SIX,
      '2026-03-08T13:00:00Z',
    ],
    [
      'hours that begin in the gap',
      'America/New_York',
      '2026-03-08T05:00:00Z',
      ['02:30:00', '18:00:00'],
      '2026-03-08T07:00:00Z',
    ],
    [
      'hours that lie in the gap',
      'America/New_York',
      '2026-03-08T05:00:00Z',
      ['02:10:00', '02:50:00'],
      '2026-03-09T06:10:00Z',
    ],
    [
      'hours that end in the gap',
      'America/New_York',
      '2026-03-08T06:30:00Z',
      ['01:00:00', '02:30:00'],
      '2026-03-08T06:30:00Z',
    ],
    [
      'a gap of half an hour',
      'Australia/Lord_Howe',
      '2026-10-03T12:00:00Z',
      ['02:15:00', '18:00:00'],
      '2026-10-03T15:30:00Z',
    ],
    [
      'a gap at midnight',
      'America/Sao_Paulo',
      '2018-11-04T02:59:59.999Z',
      ['00:00:00', '00:30:00'],
      '2018-11-05T02:00:00Z',
    ],
    [
      'a gap at midnight, longer hours',
      'Africa/Cairo',
      '2026-04-23T21:50:00Z',
      ['00:00:00', '02:00:00'],
      '2026-04-23T22:00:00Z',
    ],
    ['a day that was left out', 'Pacific/Apia', '2011-12-30T05:00:00Z', NINE_TO_SIX, '2011-12-30T19:00:00Z'],
  ] as const)('%s', (_what, zone, from, [start, end], when) => {
    expect(next(from, start, end, zone)).toBe(when);
  });
});

describe('where clocks are put back', () => {
  test.each([
    [
      'from before to after the change',
      'America/New_York',
      '2026-11-01T03:00:00Z',
      NINE_TO_SIX,
      '2026-11-01T14:00:00Z',
    ],
    [
      'the first of two starts',
      'America/New_York',
      '2026-11-01T05:00:00Z',
      ['01:30:00', '18:00:00'],
      '2026-11-01T05:30:00Z',
    ],
    [
      'the second of two starts',
      'America/New_York',
      '2026-11-01T06:10:00Z',
      ['01:30:00', '18:00:00'],
      '2026-11-01T06:30:00Z',
    ],
    [
      'hours that come again',
      'America/New_York',
      '2026-11-01T05:55:00Z',
      ['01:10:00', '01:50:00'],
      '2026-11-01T06:10:00Z',
    ],
    [
      'hours that go on again',
      'America/New_York',
      '2026-11-01T05:40:00Z',
      ['00:30:00', '01:30:00'],
      '2026-11-01T06:00:00Z',
    ],
    ['half an hour', 'Australia/Lord_Howe', '2026-04-04T15:05:00Z', ['01:45:00', '18:00:00'], '2026-04-04T15:15:00Z'],
    [
      'back over midnight',
      'America/Sao_Paulo',
      '2018-02-18T01:30:00Z',
      ['23:10:00', '23:20:00'],
      '2018-02-18T02:10:00Z',
    ],
  ] as const)('%s', (_what, zone, from, [start, end], when) => {
    expect(next(from, start, end, zone)).toBe(when);
  });
});

test('agrees with a look at the clock for every minute, around changes in many zones', () => {
  const MINUTE = 60_000;
  const changes: [string, string][] = [
    ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
    ['America/New_York', '2026-03-08T07:00:00Z'],
    ['America/New_York', '2026-11-01T06:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
    ['Asia/Kolkata', '2026-05-05T00:00:00Z'],
    ['Africa/Cairo', '2026-10-29T21:00:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ];
  const random = seeded(3);
  const below = (limit: number) => Math.floor(random() * limit);
  const two = (value: number) => String(value).padStart(2, '0');
  for (const [zone, change] of changes) {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    const first = Date.parse(change) - 1440 * MINUTE;
    const shown = Array.from({ length: 4 * 1440 }, (_, minute) => format.format(first + minute * MINUTE));
    for (let run = 0; run < 300; run += 1) {
      const opens = below(1439);
      const closes = opens + 1 + below(1439 - opens);
      const [start, end] = [opens, closes].map((minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`) as [
        string,
        string,
      ];
      const from = below(2 * 1440);
      const expected = shown.findIndex((time, minute) => minute >= from && time >= start && time <= end);
      const found = nextBusinessTime(new Date(first + from * MINUTE), { start: `${start}:00`, end: `${end}:59` }, zone);
      expect([zone, start, end, from, found.getTime()]).toEqual([zone, start, end, from, first + expected * MINUTE]);
    }
  }
});
