/*
 * Loaded into the service before its main file (`node --import`): watches how long a turn of the event loop keeps the main thread's
 * processor. On SIGUSR2 it writes a line `loop {"longestMs":…,"workMs":…}` and begins anew. Time of the processor, unlike time of the clock, does
 * not grow while other processes run. `workMs` is the time of a known work, which says how fast the machine is at this moment.
 */

const SAMPLE_MS = 2;
const TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, index) => ({ [`key${index}`]: [index, `value ${index}`] })),
);

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds for the known work: the median of five. */
function workMs(): number {
  const times = Array.from({ length: 5 }, () => {
    const begun = cpuMs();
    for (let round = 0; round < 4; round += 1) JSON.stringify(JSON.parse(TEXT));
    return cpuMs() - begun;
  });
  return times.sort((one, other) => one - other)[2] ?? 0;
}

let before = cpuMs();
let longestMs = 0;

setInterval(() => {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
}, SAMPLE_MS).unref();

process.on('SIGUSR2', () => {
  longestMs = Math.max(longestMs, cpuMs() - before);
  process.stdout.write(`loop ${JSON.stringify({ longestMs, workMs: workMs() })}\n`);
  longestMs = 0;
  before = cpuMs();
});
