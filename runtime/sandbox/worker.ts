import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { adoptThreadPriority } from '../../core/threadPriority.ts';
import { SANDBOX_LIMITS, type SandboxResult } from './limits.ts';

/*
 * Runs code in QuickJS in a thread of its own, so that code that never ends can be stopped. Each run has its own instance of the
 * WebAssembly module with its own memory, which is dropped after the run: no run can leave anything behind for the next one.
 */

/** Missing in the types of Node.js. */
interface Memory {
  readonly buffer: ArrayBuffer;
}
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => Memory };
};

const PRELUDE = readFileSync(new URL('./prelude.js', import.meta.url), 'utf8');
/**
 * JS_EVAL_FLAG_ASYNC of quickjs.h: a script may use `await` at the top level. It evaluates to a promise of `{value}`, where the value is
 * that of its last expression. The package passes the number to QuickJS unchanged.
 */
const EVAL_ASYNC = 1 << 7;
const PAGE = 65_536;
/** The minimum that the module accepts (its INITIAL_MEMORY). */
const FIRST_PAGES = 256;
/** Memory for code, stack and the text of an error. QuickJS's own limit alone does not hold (its issue 255). */
const SPARE_BYTES = 16 * 1024 * 1024;

const TOO_LONG = `The code ran longer than ${SANDBOX_LIMITS.timeMs / 1000} s and was stopped. Look for a loop without an end, or do less at once.`;
const TOO_MUCH = `The code took more than ${SANDBOX_LIMITS.memoryBytes / 1024 / 1024} MiB of memory and was stopped. Keep less at a time.`;
const TOO_DEEP =
  'The code is nested too deeply, or calls itself too often: the stack overflowed. Use a loop, or less nesting.';
const BROKEN = 'The interpreter gave up on this code, mostly a sign that it took too much memory. Do less at once.';
const NEVER = 'The result is a promise that nothing settles, so there is nothing to wait for.';

/** Why a run has no result, for the author of the code. */
class RunFailure extends Error {}

interface Machine {
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  memory: Memory;
  /** The functions of the prelude. */
  tools: QuickJSHandle;
  logs: string[];
  interrupted: boolean;
}

async function start(): Promise<Machine> {
  const maximum = (SANDBOX_LIMITS.memoryBytes + SPARE_BYTES) / PAGE;
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum });
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory: memory }));
  const runtime = quickjs.newRuntime({
    memoryLimitBytes: SANDBOX_LIMITS.memoryBytes,
    maxStackSizeBytes: SANDBOX_LIMITS.stackBytes,
  });
  const context = runtime.newContext();
  const logs: string[] = [];
  const write = context.newFunction('write', (line) => {
    if (context.typeof(line) === 'string') logs.push(context.getString(line));
  });
  const prelude = context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js'));
  const mostLogged = context.newNumber(SANDBOX_LIMITS.outputChars);
  const tools = context.unwrapResult(context.callFunction(prelude, context.undefined, write, mostLogged));
  const machine: Machine = { runtime, context, memory, tools, logs, interrupted: false };
  const deadline = performance.now() + SANDBOX_LIMITS.timeMs;
  runtime.setInterruptHandler(() => {
    machine.interrupted = performance.now() > deadline;
    return machine.interrupted;
  });
  return machine;
}

/** Calls a function of the prelude. Throws CodeError with what the code threw. */
function call({ context, tools }: Machine, name: string, ...values: QuickJSHandle[]): QuickJSHandle {
  const answer = context.callFunction(context.getProp(tools, name), context.undefined, ...values);
  if (answer.error) throw new CodeError(answer.error);
  return answer.value;
}

/** What the code threw, as a handle inside QuickJS. */
class CodeError extends Error {
  readonly value: QuickJSHandle;
  constructor(value: QuickJSHandle) {
    super();
    this.value = value;
  }
}

/** Runs pending promise jobs and timers until none is left. */
function drain(machine: Machine): void {
  for (;;) {
    const jobs = machine.runtime.executePendingJobs();
    if (machine.interrupted) throw new RunFailure(TOO_LONG);
    if (jobs.error) throw new CodeError(jobs.error);
    if (machine.context.dump(call(machine, 'runTimer')) !== true) return;
  }
}

/** The value of a settled promise; any other value unchanged. Throws for a pending or rejected promise. */
function settled({ context }: Machine, value: QuickJSHandle): QuickJSHandle {
  const state = context.getPromiseState(value);
  if (state.type === 'pending') throw new RunFailure(NEVER);
  if (state.type === 'rejected') throw new CodeError(state.error);
  return state.value;
}

function evaluate(machine: Machine, code: string): string {
  const { context } = machine;
  const evaluated = context.evalCode(code, 'code.js', EVAL_ASYNC);
  if (machine.interrupted) throw new RunFailure(TOO_LONG);
  if (evaluated.error) throw new CodeError(evaluated.error);
  drain(machine);
  const completion = settled(machine, evaluated.value);
  const value = settled(machine, context.getProp(completion, 'value'));
  const text = call(machine, 'show', value, context.newNumber(SANDBOX_LIMITS.outputChars));
  return context.getString(text);
}

function explain(machine: Machine, code: string, error: unknown): string {
  const { context, memory } = machine;
  if (machine.interrupted) return TOO_LONG;
  if (error instanceof RunFailure) return error.message;
  // The stack of the thread itself overflowed before QuickJS's limit, for example in the parser.
  if (error instanceof RangeError) return TOO_DEEP;
  if (!(error instanceof CodeError)) return BROKEN;
  // When there was no memory for the error object either, the error is null.
  const full = memory.buffer.byteLength > SANDBOX_LIMITS.memoryBytes;
  if (full && context.typeof(error.value) === 'object' && context.dump(error.value) === null) return TOO_MUCH;
  machine.runtime.setMemoryLimit(-1);
  const text = context.getString(call(machine, 'explain', error.value));
  if (machine.interrupted) return TOO_LONG;
  if (text.startsWith('InternalError: out of memory')) return TOO_MUCH;
  if (text.startsWith('InternalError: stack overflow')) return `${TOO_DEEP}\n${text}`;
  if (text.startsWith('SyntaxError: return not in a function')) {
    return `${text}\nThe value of the last expression is the result: leave out return.`;
  }
  if (text.startsWith('SyntaxError') && /^[ \t]*(import|export)\b/m.test(code)) {
    return `${text}\nThere are no modules here: leave out import and export.`;
  }
  return text;
}

async function run(code: string): Promise<SandboxResult> {
  const machine = await start();
  const { logs, memory } = machine;
  let answer: { result: string; error?: undefined } | { result?: undefined; error: string };
  try {
    answer = { result: evaluate(machine, code) };
    if (machine.interrupted) answer = { error: TOO_LONG };
  } catch (error) {
    try {
      answer = { error: explain(machine, code, error) };
    } catch {
      answer = { error: machine.interrupted ? TOO_LONG : BROKEN };
    }
  }
  // The memory of a run is freed by the thread's garbage collector, at an unknown time.
  const spent = machine.interrupted || memory.buffer.byteLength > FIRST_PAGES * PAGE;
  return { logs, result: answer.result, error: answer.error, spent };
}

adoptThreadPriority();
parentPort?.on('message', (code: string) => {
  void run(code).then((answer) => parentPort?.postMessage(answer));
});
parentPort?.postMessage('ready');
