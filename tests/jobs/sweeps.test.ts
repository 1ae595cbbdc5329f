import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startSweeps } from '../../jobs/sweeps.ts';

const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
beforeEach(() => void logged.splice(0));

/** A sweep that counts its calls, and settles `calls(n)` when it was called so often. */
function countingSweep(work: () => Promise<unknown> = async () => {}) {
  const reached = new Map<number, () => void>();
  let count = 0;
  return {
    async sweep() {
      count += 1;
      reached.get(count)?.();
      return Number(await work()) || undefined;
    },
    count: () => count,
    calls: (wanted: number) => new Promise<void>((resolve) => void reached.set(wanted, resolve)),
  };
}

test('every target is swept at its own interval', async () => {
  const [fast, slow] = [countingSweep(), countingSweep()];
  const third = fast.calls(3);
  const sweeps = startSweeps(
    [
      { name: 'fast', intervalMs: 5, sweep: fast.sweep },
      { name: 'slow', intervalMs: 60_000, sweep: slow.sweep },
    ],
    logger,
  );
  await third;
  sweeps.stop();
  expect(slow.count()).toBe(1);
});

test('a target that fails is swept again, and one that hangs delays no other', async () => {
  const gate = Promise.withResolvers<void>();
  const failing = countingSweep(() => Promise.reject(new Error('No luck.')));
  const hanging = countingSweep(() => gate.promise);
  const second = failing.calls(2);
  const sweeps = startSweeps(
    [
      { name: 'hanging', intervalMs: 5, sweep: hanging.sweep },
      { name: 'failing', intervalMs: 5, sweep: failing.sweep },
    ],
    logger,
  );
  await second;
  expect(logged.some((line) => line.includes('No luck.') && line.includes('"job":"failing"'))).toBe(true);
  expect(hanging.count()).toBe(1);
  gate.resolve();
  sweeps.stop();
});

test('a sweep on demand does not wait for the interval, and does not run beside another of its target', async () => {
  const gate = Promise.withResolvers<void>();
  const target = countingSweep(() => (target.count() === 1 ? gate.promise : Promise.resolve()));
  const second = target.calls(2);
  const sweeps = startSweeps([{ name: 'target', intervalMs: 5, sweep: target.sweep }], logger);
  sweeps.sweepNow('target');
  expect(target.count()).toBe(1);
  gate.resolve();
  await second;
  sweeps.stop();
  const ended = target.count();
  sweeps.sweepNow('target');
  expect(target.count()).toBe(ended);
});

test('a slow sweep is followed by a pause of nine times its length, however short the interval is', async () => {
  const started: number[] = [];
  const second = Promise.withResolvers<void>();
  const sweep = async () => {
    started.push(performance.now());
    if (started.length === 2) second.resolve();
    await sleep(40);
    return undefined;
  };
  const sweeps = startSweeps([{ name: 'slow', intervalMs: 1, sweep }], logger);
  await second.promise;
  sweeps.stop();
  const [first = 0, next = 0] = started;
  // A timer may fire a millisecond early.
  expect(next - first).toBeGreaterThanOrEqual(10 * 39 - 1);
});

test('a sweep that knows when more is due is followed by another at that time, but not within a second', async () => {
  const started: number[] = [];
  const third = Promise.withResolvers<void>();
  const sweep = async () => {
    started.push(performance.now());
    if (started.length === 3) third.resolve();
    return started.length === 1 ? 1_500 : 10;
  };
  const sweeps = startSweeps([{ name: 'planned', intervalMs: 60_000, sweep }], logger);
  await third.promise;
  sweeps.stop();
  const [first = 0, second = 0, last = 0] = started;
  // A timer may fire a millisecond early.
  expect(second - first).toBeGreaterThanOrEqual(1_499);
  expect(last - second).toBeGreaterThanOrEqual(999);
});
