import { backOff, retry } from '../../core/retry.ts';

const fault = new Error('fault');

/** Fails as often as it says, then succeeds. */
function failing(times: number) {
  let calls = 0;
  return {
    attempt: async () => {
      calls += 1;
      if (calls <= times) throw fault;
      return calls;
    },
    calls: () => calls,
  };
}

test('an attempt is repeated until it succeeds', async () => {
  const pauses: number[] = [];
  const { attempt } = failing(2);
  const result = await retry(attempt, (error, failures) => {
    expect(error).toBe(fault);
    pauses.push(failures);
    return 0;
  });
  expect(result).toBe(3);
  expect(pauses).toEqual([1, 2]);
});

test('the error is thrown when there is no next attempt', async () => {
  const work = failing(9);
  await expect(retry(work.attempt, (_error, failures) => (failures < 3 ? 0 : undefined))).rejects.toBe(fault);
  expect(work.calls()).toBe(3);
});

test('an abort ends the wait', async () => {
  const controller = new AbortController();
  const waiting = retry(failing(9).attempt, () => 60_000, controller.signal);
  setImmediate(() => controller.abort());
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});

test('a back-off doubles', () => {
  expect([1, 2, 3].map((failures) => backOff(500, failures))).toEqual([500, 1000, 2000]);
});
