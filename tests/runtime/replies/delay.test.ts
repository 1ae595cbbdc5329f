import { replyDelays } from '../../../runtime/replies/delay.ts';

type Tier = 'LOW' | 'MEDIUM' | 'HIGH' | 'RANDOM';

const agent = (messageDelayType: Tier | null, messageDelayEnabled = true) => ({
  messageDelayEnabled,
  messageDelayType,
});
const never = () => {
  throw new Error('Nothing is left to chance here.');
};
const SENTENCE = 'x'.repeat(100);

test('there is no delay while the feature is off, whatever the tier', () => {
  for (const tier of ['LOW', 'HIGH', 'RANDOM', null] as const)
    expect(replyDelays(agent(tier, false), ['Hello.', SENTENCE], never)).toEqual([0, 0]);
});

test.each([
  ['LOW', 2_000],
  ['MEDIUM', 5_000],
  ['HIGH', 10_000],
  [null, 5_000],
] as const)('at %s, 100 characters take %d ms', (tier, ms) => {
  expect(replyDelays(agent(tier), [SENTENCE], never)).toEqual([ms]);
});

test.each([
  ['LOW', 500, 4_000],
  ['MEDIUM', 1_000, 10_000],
  ['HIGH', 2_000, 20_000],
] as const)('at %s, no message takes less than %d or more than %d ms', (tier, least, most) => {
  expect(replyDelays(agent(tier), ['', 'Hi', 'x'.repeat(100_000)], never)).toEqual([least, least, most]);
});

test('each message has its own delay, and a longer message a longer one', () => {
  const [first = 0, second = 0] = replyDelays(agent('MEDIUM'), ['x'.repeat(40), 'x'.repeat(60)], never);
  expect([first, second]).toEqual([2_000, 3_000]);
});

test('the delay depends on code points, not on UTF-16 units', () => {
  expect(replyDelays(agent('HIGH'), ['🙂'.repeat(50)], never)).toEqual([5_000]);
});

test.each([
  [0, 2_000],
  [0.4, 5_000],
  [0.999, 10_000],
])('RANDOM picks one tier for the whole reply (%d)', (chance, ms) => {
  let asked = 0;
  const random = () => {
    asked += 1;
    return chance;
  };
  expect(replyDelays(agent('RANDOM'), [SENTENCE, SENTENCE], random)).toEqual([ms, ms]);
  expect(asked).toBe(1);
});
