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
import { SANDBOX_LIMITS, type SandboxResult } from './limits.ts';

/*
 * Runs code in QuickJS in a thread of its own, so that what never ends can be stopped. Each run has an instance of the WebAssembly
 * module with a memory of its own, which is dropped with all that is in it: no run can leave anything for the next one.
 */

/** The types of Node.js leave it out. */
interface Memory {
  readonly buffer: ArrayBuffer;
}
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => Memory };
};

const PRELUDE = readFileSync(new URL('./prelude.js', import.meta.url), 'utf8');
/**
 * JS_EVAL_FLAG_ASYNC of quickjs.h: a script may await at its top, and comes to a promise of `{value}` with the value of its last
 * expression. The package passes numbers on as they are.
 */
const EVAL_ASYNC = 1 << 7;
const PAGE = 65_536;
/** What the module wants at least (its INITIAL_MEMORY). */
const FIRST_PAGES = 256;
/** Beside the values: code, stack, and some room to say what went wrong. QuickJS's own limit alone does not hold (issue 255 there). */
const SPARE_BYTES = 16 * 1024 * 1024;

const TOO_LONG = `The code ran longer than ${SANDBOX_LIMITS.timeMs / 1000} s and was stopped. Look for a loop without an end, or do less at once.`;
const TOO_MUCH = `The code took more than ${SANDBOX_LIMITS.memoryBytes / 1024 / 1024} MiB of memory and was stopped. Keep less at a time.`;
const TOO_DEEP =
  'The code is nested too deeply, or calls itself too often: the stack overflowed. Use a loop, or less nesting.';
const BROKEN = 'The interpreter gave up on this code, mostly a sign that it took too much memory. Do less at once.';
const NEVER = 'The result is a promise that nothing settles, so there is nothing to wait for.';

/** Why there is no result, for whoever wrote the code. */
class Failed extends Error {}

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

/** Calls a function of the prelude. Throws Failed with what the code threw in it. */
function call({ context, tools }: Machine, name: string, ...values: QuickJSHandle[]): QuickJSHandle {
  const answer = context.callFunction(context.getProp(tools, name), context.undefined, ...values);
  if (answer.error) throw new Thrown(answer.error);
  return answer.value;
}

/** What the code threw, still inside. */
class Thrown extends Error {
  readonly value: QuickJSHandle;
  constructor(value: QuickJSHandle) {
    super();
    this.value = value;
  }
}

/** Runs what promises and timers have left to do, until there is nothing. */
function drain(machine: Machine): void {
  for (;;) {
    const jobs = machine.runtime.executePendingJobs();
    if (machine.interrupted) throw new Failed(TOO_LONG);
    if (jobs.error) throw new Thrown(jobs.error);
    if (machine.context.dump(call(machine, 'runTimer')) !== true) return;
  }
}

/** What a promise came to; another value itself. */
function settled({ context }: Machine, value: QuickJSHandle): QuickJSHandle {
  const state = context.getPromiseState(value);
  if (state.type === 'pending') throw new Failed(NEVER);
  if (state.type === 'rejected') throw new Thrown(state.error);
  return state.value;
}

function evaluate(machine: Machine, code: string): string {
  const { context } = machine;
  const evaluated = context.evalCode(code, 'code.js', EVAL_ASYNC);
  if (machine.interrupted) throw new Failed(TOO_LONG);
  if (evaluated.error) throw new Thrown(evaluated.error);
  drain(machine);
  const completion = settled(machine, evaluated.value);
  const value = settled(machine, context.getProp(completion, 'value'));
  const text = call(machine, 'show', value, context.newNumber(SANDBOX_LIMITS.outputChars));
  return context.getString(text);
}

function explain(machine: Machine, code: string, error: unknown): string {
  const { context, memory } = machine;
  if (machine.interrupted) return TOO_LONG;
  if (error instanceof Failed) return error.message;
  // The thread's own stack ran out before QuickJS's limit: in the parser, say.
  if (error instanceof RangeError) return TOO_DEEP;
  if (!(error instanceof Thrown)) return BROKEN;
  // Where even the error found no room, it is null.
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
  // What a run took is given back when the thread's own garbage is collected, and nobody knows when.
  const spent = machine.interrupted || memory.buffer.byteLength > FIRST_PAGES * PAGE;
  return { logs, result: answer.result, error: answer.error, spent };
}

parentPort?.on('message', (code: string) => {
  void run(code).then((answer) => parentPort?.postMessage(answer));
});
parentPort?.postMessage('ready');
