import { TimeLimitExceeded, withinTime } from '../../../runtime/threads/timeLimit.ts';

describe('withinTime', () => {
  test('returns what the work returns, and throws what it throws', () => {
    expect(withinTime(1_000, () => 7)).toBe(7);
    expect(() =>
      withinTime(1_000, () => {
        throw new RangeError('mine');
      }),
    ).toThrow('mine');
  });

  test('ends a loop', () => {
    expect(() =>
      withinTime(20, () => {
        for (;;);
      }),
    ).toThrow(TimeLimitExceeded);
  });
});
