import { builtInValues, presentLine } from '../../../runtime/variables/builtIns.ts';

const AT = new Date('2026-11-23T23:30:00Z');

test.each([
  ['UTC', '2026-11-23', '23:30', 'Now: Monday, 2026-11-23, 23:30, UTC.'],
  ['Europe/Berlin', '2026-11-24', '00:30', 'Now: Tuesday, 2026-11-24, 00:30, Europe/Berlin (UTC+01:00).'],
  ['America/St_Johns', '2026-11-23', '20:00', 'Now: Monday, 2026-11-23, 20:00, America/St_Johns (UTC-03:30).'],
  ['Asia/Kathmandu', '2026-11-24', '05:15', 'Now: Tuesday, 2026-11-24, 05:15, Asia/Kathmandu (UTC+05:45).'],
])('in %s', (zone, date, time, line) => {
  expect(builtInValues(AT, zone)).toEqual({ current_date: date, current_time: time, time_zone: zone });
  expect(presentLine(AT, zone)).toBe(line);
});

test('each minute is told as it is, whichever was told before', () => {
  const told = (time: string) => builtInValues(new Date(`2026-11-23T${time}Z`), 'Europe/Berlin').current_time;
  expect(['23:59:59.999', '23:30:00', '23:30:59.999', '23:31:00', '23:30:00'].map((time) => told(time))).toEqual([
    '00:59',
    '00:30',
    '00:30',
    '00:31',
    '00:30',
  ]);
});

test('summer time counts', () => {
  expect(presentLine(new Date('2026-07-01T12:00:00Z'), 'Europe/Berlin')).toContain('14:00, Europe/Berlin (UTC+02:00)');
});
