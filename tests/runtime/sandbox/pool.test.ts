import { ThreadStopped } from '../../../core/thread.ts';
import { ThreadLanes } from '../../../core/threadLanes.ts';
import { PoolBusy, ThreadPool } from '../../../core/threadPool.ts';
import type { SandboxResult } from '../../../runtime/sandbox/limits.ts';
import { SANDBOX } from '../../../runtime/sandbox/pool.ts';

const usual = { ...SANDBOX, threads: 1, waitingOfOne: 3, waitingOfAll: 5 };
const never = new AbortController().signal;
const pool = new ThreadPool<string, SandboxResult>({ ...usual, threads: 3, waitingOfOne: 20, waitingOfAll: 20 });
const run = (code: string) => pool.run('a', code, never);
const failures = (answers: SandboxResult[]) => answers.map(({ error }) => error?.split('\n')[0]);

describe('limits', () => {
  test('code that never ends is stopped after 5 s, in every form', async () => {
    const endless = [
      'while (true) {}',
      'async function f() { while (true) await 0 } f()',
      'for (;;) { try { while (true) {} } catch {} }',
      '({ get a() { while (true) {} } })',
      '({ toJSON() { while (true) {} } })',
      'for (;;) console.log("x".repeat(1000))',
      'const again = () => setTimeout(again); again()',
      '/(a+)+$/.test("a".repeat(50) + "b")',
    ];
    const answers = await Promise.all(endless.map(run));
    expect(failures(answers)).toEqual(
      endless.map(() => expect.stringMatching(/^The code ran longer than 5 s and was stopped/)),
    );
    const flood = answers[5]?.logs.join('\n') ?? '';
    expect(flood.length).toBeGreaterThan(15_000);
    expect(flood.length).toBeLessThan(16_200);
  });

  test('code that cannot be interrupted at its limit is ended with its thread', async () => {
    const impatient = new ThreadPool<string, SandboxResult>({ ...usual, limitMs: 3_000 });
    const error = await impatient.run('a', 'new Array(2 ** 32 - 1).join()', never).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ThreadStopped);
    expect((error as ThreadStopped).reason).toBe('late');
    expect((await impatient.run('a', '1 + 1', never)).result).toBe('2');
  });

  test('code that takes too much memory is stopped, and its memory is freed', async () => {
    const greedy = [
      'const all = []; while (true) all.push("x".repeat(1 << 20) + all.length)',
      'const all = []; while (true) all.push(new ArrayBuffer(1 << 20))',
      'new ArrayBuffer(2 ** 30)',
      '"x".repeat(2 ** 29)',
    ];
    const before = process.memoryUsage().rss;
    for (const code of greedy) {
      const { error, result } = await run(code);
      expect([code, result, error]).toEqual([
        code,
        undefined,
        expect.stringMatching(/took more than 64 MiB of memory/),
      ]);
      expect((await run('1')).result).toBe('1');
    }
    // So slow that the time limit may come first on a busy machine.
    for (const code of ['const all = []; while (true) all.push({ a: 1 })', 'let s = "x"; while (true) s += s']) {
      expect((await run(code)).error).toMatch(/took more than 64 MiB of memory|string too long|ran longer than 5 s/);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  });

  test('code that recurses too deeply gets an error that says so', async () => {
    const deep = [
      'function f(n) { return f(n + 1) + 1 } f(0)',
      'eval("[".repeat(90_000))',
      '('.repeat(90_000),
      'const f = () => { f.call() }; f()',
      'const g = { toString() { return g + "" } }; g + ""',
      'class A { get x() { return this.x } } new A().x',
      'const p = new Proxy({}, { getPrototypeOf: (t) => Object.getPrototypeOf(p) }); p instanceof Object',
    ];
    for (const code of deep) {
      const { error } = await run(code);
      expect([code.slice(0, 40), error]).toEqual([code.slice(0, 40), expect.stringContaining('the stack overflowed')]);
      expect((await run('1')).result).toBe('1');
    }
    expect((await run('JSON.parse("[".repeat(1e6))')).error).toContain('stack overflow');
    expect((await run('let d = []; for (let i = 0; i < 1e5; i++) d = [d]; d')).result).toMatch(/^\[{20}…?/);
  });
});

describe('runs that wait', () => {
  test('workspaces take turns', async () => {
    const one = new ThreadPool<string, SandboxResult>(usual);
    const order: string[] = [];
    const ask = (workspace: string, code = '1') => one.run(workspace, code, never).then(() => order.push(workspace));
    await Promise.all([ask('a', 'let i = 0; while (i < 1e5) i++'), ask('a'), ask('a'), ask('a'), ask('b'), ask('c')]);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'a', 'a']);
  });

  test('are limited for each workspace and in total, and others get an error that says so', async () => {
    const one = new ThreadPool<string, SandboxResult>(usual);
    const ask = (workspace: string) =>
      one.run(workspace, '1', never).then(
        ({ result }) => result,
        (error: unknown) => error,
      );
    const asked = ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'd', 'e', 'f'].map(ask);
    const [first, second, third, fourth, fifth, b, c, d, e, last] = await Promise.all(asked);
    // Of the one with the most, the newest runs give way to workspaces with fewer.
    expect([first, second, b, c, d, e]).toEqual(Array(6).fill('1'));
    for (const refused of [third, fourth, fifth, last]) expect(refused).toBeInstanceOf(PoolBusy);
    for (const refused of [third, fourth, fifth])
      expect(String(refused)).toContain('this workspace has too many runs waiting');
    expect(String(last)).toContain('there are too many runs waiting');
    expect(await ask('a')).toBe('1');
  });

  test('leave the queue at once when they are aborted, and the next ones advance', async () => {
    const one = new ThreadPool<string, SandboxResult>(usual);
    // The thread is loaded first, so that the abort happens while the code runs.
    await one.run('a', '1', never);
    const [first, second] = [new AbortController(), new AbortController()];
    const running = one.run('a', 'while (true) {}', first.signal);
    const waiting = one.run('a', '1', second.signal);
    const last = one.run('a', '2', never);
    second.abort(new Error('second stopped'));
    await expect(waiting).rejects.toThrow('second stopped');
    first.abort(new Error('first stopped'));
    await expect(running).rejects.toThrow('first stopped');
    expect((await last).result).toBe('2');
    await expect(one.run('a', '1', first.signal)).rejects.toThrow('first stopped');
  });
});

test('code that never ends, of one workspace, does not hold up the code of another', async () => {
  const lanes = new ThreadLanes<string, SandboxResult>({ ...SANDBOX, threads: 1, slowThreads: 1 });
  const stop = new AbortController();
  let ended = 0;
  const endless = Array.from({ length: 12 }, () =>
    lanes.run('a', 'while (true) {}', stop.signal).then(
      () => (ended += 1),
      () => undefined,
    ),
  );
  for (let runs = 0; runs < 6; runs += 1) expect((await lanes.run('b', '1 + 1')).result).toBe('2');
  // Where the machine is slow, some have been stopped at their limit meanwhile. Without a slow lane one is before each run of the other.
  expect(ended).toBeLessThanOrEqual(3);
  stop.abort();
  await Promise.all(endless);
});

test('one thread serves runs of several workspaces, and none sees data of another', async () => {
  const one = new ThreadPool<string, SandboxResult>(usual);
  await one.run(
    'a',
    'globalThis.mine = 1; Object.prototype.mine = 1; setTimeout(() => {}); Promise.resolve().then(() => {})',
    never,
  );
  expect((await one.run('b', '[typeof mine, ({}).mine]', never)).result).toBe('["undefined",undefined]');
});
