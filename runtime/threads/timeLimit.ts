import vm from 'node:vm';

/** Thrown by `withinTime` when it ended the work. */
export class TimeLimitExceeded extends Error {
  override readonly name = 'TimeLimitExceeded';
}

let timer: { context: vm.Context; script: vm.Script } | undefined;

/**
 * Runs synchronous work and ends it after `ms` milliseconds, even in a loop or in a regular expression that backtracks for ever.
 * Throws TimeLimitExceeded then. This is no sandbox: the work has all rights of the service. The `node:vm` context is used only because
 * V8 can interrupt what runs in it.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  timer ??= { context: vm.createContext({}), script: new vm.Script('work()') };
  const { context, script } = timer;
  let result: { value: T } | undefined;
  context.work = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new TimeLimitExceeded();
    throw error;
  } finally {
    context.work = undefined;
  }
  if (result === undefined) throw new TimeLimitExceeded();
  return result.value;
}
