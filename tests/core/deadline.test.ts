import { getEventListeners } from 'node:events';
import { untilAborted, withDeadline } from '../../core/deadline.ts';

const never = new Promise<never>(() => {});
const reason = new Error('enough');

describe('untilAborted', () => {
  test('settles as the work does, and listens to the signal no longer', async () => {
    const { signal } = new AbortController();
    const working = untilAborted(Promise.resolve(7), signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await expect(working).resolves.toBe(7);
    await expect(untilAborted(Promise.reject(reason), signal)).rejects.toBe(reason);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('rejects with the reason when the signal is aborted', async () => {
    const controller = new AbortController();
    const waiting = untilAborted(never, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  test('prefers a signal that was aborted before', async () => {
    await expect(untilAborted(Promise.resolve(7), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('ignores the error of work that comes too late', async () => {
    const work = Promise.withResolvers<never>();
    await expect(untilAborted(work.promise, AbortSignal.abort(reason))).rejects.toBe(reason);
    work.reject(new Error('late'));
    // An unhandled rejection would fail the test run.
    await new Promise(setImmediate);
  });
});

describe('withDeadline', () => {
  test('settles as the work does', async () => {
    await expect(withDeadline(Promise.resolve(7), 60_000, () => reason)).resolves.toBe(7);
    await expect(withDeadline(Promise.reject(reason), 60_000, () => new Error('late'))).rejects.toBe(reason);
  });

  test('rejects when the work is late', async () => {
    await expect(withDeadline(never, 1, () => reason)).rejects.toBe(reason);
  });
});
