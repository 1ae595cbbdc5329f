import vm from 'node:vm';

/** Work that `withinTime` ended. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

let stopwatch: { context: vm.Context; script: vm.Script } | undefined;

/**
 * Runs synchronous work and ends it after so many milliseconds of real time, whatever it is doing: a loop, or a regular
 * expression that backtracks for ever. Throws OutOfTime then. The work runs with all its rights: the other context of
 * `node:vm` is no sandbox, it is there because V8 stops what runs under it.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  stopwatch ??= { context: vm.createContext({}), script: new vm.Script('work()') };
  const { context, script } = stopwatch;
  let result: { value: T } | undefined;
  context.work = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new OutOfTime();
    throw error;
  } finally {
    context.work = undefined;
  }
  if (result === undefined) throw new OutOfTime();
  return result.value;
}
