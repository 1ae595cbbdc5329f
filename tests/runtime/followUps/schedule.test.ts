import { allowedFollowUp, type FollowUpSettings, nextFollowUp } from '../../../runtime/followUps/schedule.ts';

const agent = (settings: Partial<FollowUpSettings> = {}): FollowUpSettings => ({
  followUpEnabled: true,
  followUpAfterHours: null,
  followUpInactivityMinutes: null,
  followUpIntervalMinutes: 10,
  followUpMaxAttempts: 3,
  followUpBusinessHoursStart: null,
  followUpBusinessHoursEnd: null,
  ...settings,
});

const FROM = new Date('2026-05-05T12:00:00.250Z');
const state = { from: FROM, sent: 0, timeZone: 'UTC', after: 'message' } as const;

/** Minutes from FROM. */
const minutes = (at: Date | null) => at && (at.getTime() - FROM.getTime()) / 60_000;

describe('the first follow-up of a silence comes', () => {
  test.each([
    ['after the hours', { followUpAfterHours: 2 }, 120],
    ['after the minutes', { followUpInactivityMinutes: 45 }, 45],
    ['after both, when the hours are longer', { followUpAfterHours: 1, followUpInactivityMinutes: 45 }, 60],
    ['after both, when the minutes are longer', { followUpAfterHours: 1, followUpInactivityMinutes: 75 }, 75],
    ['after the interval, when neither is set', {}, 10],
    ['after the minutes, when the hours are 0', { followUpAfterHours: 0, followUpInactivityMinutes: 5 }, 5],
    ['after the interval, when the hours are 0 and nothing else is set', { followUpAfterHours: 0 }, 10],
    ['after 720 hours at most', { followUpAfterHours: 720 }, 43_200],
  ])('%s', (_what, settings, expected) => {
    expect(minutes(nextFollowUp(agent(settings), state))).toBe(expected);
  });
});

test('the interval stands between two follow-ups, and a reply to the user begins the silence anew', () => {
  const settings = agent({ followUpAfterHours: 2 });
  expect(minutes(nextFollowUp(settings, { ...state, sent: 1, after: 'follow_up' }))).toBe(10);
  expect(minutes(nextFollowUp(settings, { ...state, sent: 1, after: 'message' }))).toBe(120);
  expect(minutes(nextFollowUp(settings, { ...state, sent: 1, after: 'continuation' }))).toBe(120);
});

test('there are as many as the agent has attempts, whatever they follow', () => {
  for (const after of ['message', 'follow_up'] as const) {
    expect(nextFollowUp(agent(), { ...state, after, sent: 2 })).not.toBeNull();
    expect(nextFollowUp(agent(), { ...state, after, sent: 3 })).toBeNull();
    expect(nextFollowUp(agent(), { ...state, after, sent: 4 })).toBeNull();
  }
});

test.each([
  ['while the feature is off', { followUpEnabled: false }],
  ['without an interval', { followUpIntervalMinutes: null }],
  ['without attempts', { followUpMaxAttempts: null }],
])('there is none %s', (_what, settings) => {
  expect(nextFollowUp(agent({ followUpAfterHours: 1, ...settings }), state)).toBeNull();
  expect(allowedFollowUp(agent(settings), { at: FROM, sent: 0, timeZone: 'UTC' })).toBeNull();
});

describe('business hours of the workspace', () => {
  const office = agent({ followUpBusinessHoursStart: '09:00:00', followUpBusinessHoursEnd: '18:00:00' });

  test.each([
    ['UTC', '2026-05-05T12:00:00Z', '2026-05-05T12:10:00.000Z'],
    ['UTC', '2026-05-05T17:55:00Z', '2026-05-06T09:00:00.000Z'],
    ['America/Sao_Paulo', '2026-05-05T17:55:00Z', '2026-05-05T18:05:00.000Z'],
    ['America/Sao_Paulo', '2026-05-05T05:00:00Z', '2026-05-05T12:00:00.000Z'],
    ['Asia/Kolkata', '2026-05-05T12:25:00Z', '2026-05-06T03:30:00.000Z'],
  ])('move the time, in %s from %s', (timeZone, from, expected) => {
    expect(nextFollowUp(office, { ...state, from: new Date(from), timeZone })?.toISOString()).toBe(expected);
  });

  test('hold back what is due when it comes to be sent, too', () => {
    const at = new Date('2026-05-05T18:00:30Z');
    expect(allowedFollowUp(office, { at, sent: 0, timeZone: 'UTC' })?.toISOString()).toBe('2026-05-06T09:00:00.000Z');
    expect(allowedFollowUp(office, { at, sent: 0, timeZone: 'America/New_York' })).toEqual(at);
    expect(allowedFollowUp(agent(), { at, sent: 0, timeZone: 'UTC' })).toEqual(at);
    expect(allowedFollowUp(office, { at, sent: 3, timeZone: 'America/New_York' })).toBeNull();
  });
});
