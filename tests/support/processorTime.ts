/*
 * What code costs, whatever else the machine does. Time of the clock grows while other processes run; time of the processor does not, and is
 * put in proportion to a known work, which takes longer on a slower machine too.
 */

/** The known work takes this many milliseconds on the machine on which the limits were set. */
const WORK_MS = 20;

const TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, index) => ({ [`key${index}`]: [index, `value ${index}`] })),
);

const sum = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;

/** Milliseconds of the processor that this thread has had. */
export const threadCpuMs = () => sum(process.threadCpuUsage());

/** How many times slower than that machine this one is now, at least 1: by the median of five known works. */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const begun = threadCpuMs();
    for (let round = 0; round < 4; round += 1) JSON.stringify(JSON.parse(TEXT));
    return threadCpuMs() - begun;
  });
  return Math.max(1, (times.sort((one, other) => one - other)[2] ?? 0) / WORK_MS);
}

/** Milliseconds of the processor that the work takes in this process, all its threads together, on a machine of slowness 1. */
export async function processorMs(work: () => unknown): Promise<number> {
  return cost(() => sum(process.cpuUsage()), work);
}

/** The same of the main thread alone: how long the work keeps the event loop. */
export async function mainThreadMs(work: () => unknown): Promise<number> {
  return cost(threadCpuMs, work);
}

/** What costs less is below every limit, on any machine, and not worth the time of the known work. */
const CHEAP_MS = 100;

async function cost(spent: () => number, work: () => unknown): Promise<number> {
  const begun = spent();
  await work();
  const ms = spent() - begun;
  return ms < CHEAP_MS ? ms : ms / slowness();
}
