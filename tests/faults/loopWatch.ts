import { slowness, threadCpuMs } from '../support/processorTime.ts';

/*
 * Loaded into the service before its main file (`node --import`): watches how long a turn of the event loop keeps the main thread's
 * processor. On SIGUSR2 it writes a line `loop {"longestMs":…,"slowness":…}` and begins anew. Time of the processor, unlike time of the clock, does
 * not grow while other processes run. `slowness` is that of the machine at this moment.
 */

const SAMPLE_MS = 2;

let before = threadCpuMs();
let longestMs = 0;

setInterval(() => {
  const now = threadCpuMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
}, SAMPLE_MS).unref();

process.on('SIGUSR2', () => {
  longestMs = Math.max(longestMs, threadCpuMs() - before);
  process.stdout.write(`loop ${JSON.stringify({ longestMs, slowness: slowness() })}\n`);
  longestMs = 0;
  before = threadCpuMs();
});
