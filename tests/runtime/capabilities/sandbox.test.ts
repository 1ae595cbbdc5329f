import { sandboxCapability } from '../../../runtime/capabilities/sandbox.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { mainThreadMs } from '../../support/processorTime.ts';
import { callTool, newScope, toolsFrom } from '../../support/turns/agentScope.ts';

let app: TestApp;
let scope: Awaited<ReturnType<typeof newScope>>;
let run: (code: unknown, signal?: AbortSignal) => Promise<{ text: string; isError: boolean }>;
beforeAll(async () => {
  app = await startTestApp();
  scope = await newScope(app, { snapshot: { sandboxEnabled: true } });
  run = (code, signal = new AbortController().signal) =>
    callTool(toolsFrom(sandboxCapability, scope), 'run_javascript', { code }, { signal });
});
afterAll(() => app.close());

describe('the result', () => {
  test.each([
    ['1 + 1', '2'],
    ['const a = [3, 1]; a.toSorted()', '[1,3]'],
    ['Promise.resolve(7)', '7'],
    ['const x = await Promise.resolve(5); x * 2', '10'],
    ['async function f() { return { a: 1 } }\nf()', '{"a":1}'],
    ['"Grüße 🦊\\n"', '"Grüße 🦊\\n"'],
    ['({ a: [1, null, true], "b c": { d: "e" } })', '{"a":[1,null,true],"b c":{"d":"e"}}'],
    ['({ at: new Date(0), toJSON() { return [this.at] } })', '["1970-01-01T00:00:00.000Z"]'],
    ['[undefined, NaN, -0, 1n, Symbol("s"), /x/g, () => 1]', '[undefined,NaN,-0,1n,Symbol(s),/x/g,[function ]]'],
    ['[new Map([["a", 1]]), new Set([2]), new Uint8Array(2)]', '[Map {"a":1},Set {2},[0,0]]'],
    ['new Error("no")', '[Error: no]'],
    ['2n ** 64n', '18446744073709551616n'],
    ['Symbol.iterator', 'Symbol(Symbol.iterator)'],
    ['const o = { a: {} }; o.a.o = o; o', '{"a":{"o":[circular]}}'],
    ['new Proxy({ a: 1 }, {})', '{"a":1}'],
    ['new Proxy({}, { ownKeys() { throw new TypeError("no keys") } })', '[cannot be shown: TypeError: no keys]'],
    ['const p = new Proxy({}, { get() { throw p } }); p', '[cannot be shown: something that is no error]'],
    ['({ get a() { throw 1 }, b: 2 })', '[cannot be shown: 1]'],
    ['await new Promise((done) => setTimeout(done, 86_400_000, "tomorrow"))', '"tomorrow"'],
    ['const seen = []; setTimeout(() => seen.push(2), 2); setTimeout(() => seen.push(1), 1); await 0; seen', '[1,2]'],
    ['const t = setTimeout(() => { throw 1 }); clearTimeout(t); "quiet"', '"quiet"'],
  ])('of %s is %s', async (code, result) => {
    expect(await run(code)).toEqual({ isError: false, text: expect.stringContaining(result) });
  });

  test('comes after what was logged, in its order', async () => {
    const code = 'console.log("a", 1, { b: [2n] }); console.error("c"); setTimeout(() => console.log("later")); "done"';
    expect((await run(code)).text).toBe('Logged:\na 1 {"b":[2n]}\nc\nlater\n\nResult: "done"');
    expect((await run('console.log("only"); undefined')).text).toBe('Logged:\nonly\n\nResult: undefined');
    expect((await run('let a = 1')).text).toContain('ends with no expression and logs nothing');
  });

  test('is cut off where it is long, and so is what is logged', async () => {
    for (const code of [
      '"x".repeat(2_000_000)',
      'new Array(1e6).fill(7)',
      'new Proxy([], { get: (_, key) => key === "length" ? 1e9 : 7 })',
    ]) {
      const { text } = await run(code);
      expect(text.length).toBeLessThan(16_100);
      expect(text).toMatch(/… \(cut off here\)$/);
    }
    const { text } = await run('for (let i = 0; i < 100_000; i++) console.log("line", i); "end"');
    expect(text.length).toBeLessThan(16_200);
    expect(text).toMatch(/^Logged:\nline 0\nline 1\n.*… \(what else is logged is left out\)\n\nResult: "end"$/s);
  });
});

describe('errors say what to mend, and where', () => {
  test.each([
    ['\nlet a = 1;\nfunction f() { null.x }\nf()', "TypeError: cannot read property 'x' of null\n    at f (code.js:3:"],
    ['let a = ;', "SyntaxError: unexpected token in expression: ';'\n    at code.js:1:9"],
    ['let a = 1;\n\nreturn a', 'The value of the last expression is the result: leave out return.'],
    ['import fs from "fs"', 'There are no modules here: leave out import and export.'],
    ['throw { code: 7 }', 'Thrown: {"code":7}'],
    ['throw null', 'Thrown: null'],
    ['console.log("before"); missing()', "Logged:\nbefore\n\nReferenceError: 'missing' is not defined"],
    ['Promise.reject(new RangeError("far"))', 'RangeError: far'],
    ['setTimeout(() => { throw new Error("late") }); 1', 'Error: late'],
    ['new Promise(() => {})', 'a promise that nothing settles'],
    ['await new Promise(() => {})', 'a promise that nothing settles'],
    ['class E extends Error { get message() { throw this } } throw new E()', 'Thrown: an error that cannot be shown'],
  ])('%s', async (code, message) => {
    expect(await run(code)).toEqual({ isError: true, text: expect.stringContaining(message) });
  });

  test('no code, and too much of it, is not run', async () => {
    expect(await run(' \n')).toEqual({ isError: true, text: 'There is no code to run.' });
    expect(await run(undefined)).toEqual({ isError: true, text: 'There is no code to run.' });
    const whole = `1${' '.repeat(99_999)}`;
    expect((await run(whole)).text).toBe('Result: 1');
    expect(await run(`${whole} `)).toEqual({ isError: true, text: 'The code has 100001 bytes: at most 100000.' });
  });
});

describe('nothing of the outside can be reached', () => {
  const HOST =
    'process|require|module|fetch|XMLHttpRequest|WebSocket|Buffer|Deno|Bun|WebAssembly|Worker|navigator|std|os|print|scriptArgs|load|loadScript|performance|queueMicrotask|setInterval|parentPort';

  test.each([
    ['names', 'globalThis', `${JSON.stringify(HOST.split('|'))}.filter((name) => name in globalThis)`],
    [
      'the Function constructor',
      'none',
      `Function('return ${'this'}')() === globalThis && typeof Function('return typeof process')() === 'string' ? Function('return [typeof process, typeof require]')().filter((type) => type !== 'undefined') : 'other'`,
    ],
    [
      'constructors of functions',
      'none',
      `[async function () {}, function* () {}, (() => {})].map((f) => f.constructor('return typeof process')).length === 3 ? [] : 'other'`,
    ],
    [
      'constructors of what the host made',
      'none',
      `[console.log, setTimeout].map((f) => f.constructor.constructor('return typeof process')()).filter((type) => type !== 'undefined')`,
    ],
    [
      'errors',
      'none',
      `(() => { try { null.x } catch (error) { return [error.constructor.constructor('return typeof process')()].filter((type) => type !== 'undefined') } })()`,
    ],
    [
      'all properties, however deep',
      'none',
      `
      const seen = new Set(), found = [];
      const walk = (value, depth) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || depth > 8) return;
        seen.add(value);
        for (const key of Reflect.ownKeys(value)) {
          if (/^(${HOST})$/.test(String(key))) found.push(String(key));
          const { value: inner, get } = Object.getOwnPropertyDescriptor(value, key) ?? {};
          walk(inner, depth + 1); walk(get, depth + 1);
        }
        walk(Object.getPrototypeOf(value), depth + 1);
      };
      walk(globalThis, 0);
      found`,
    ],
  ])('by %s', async (_way, _from, code) => {
    expect(await run(code)).toEqual({ isError: false, text: 'Result: []' });
  });

  test.each(['await import("node:fs")', 'await import("./code.js")', 'await import("data:text/javascript,1")'])(
    'by %s',
    async (code) => {
      expect(await run(code)).toEqual({ isError: true, text: expect.stringContaining('could not load module') });
    },
  );

  test.each(['require("fs")', 'process.exit(0)', 'fetch("http://127.0.0.1")', 'Buffer.alloc(1)'])(
    'by %s',
    async (code) => {
      expect(await run(code)).toEqual({ isError: true, text: expect.stringContaining('is not defined') });
    },
  );

  test('changed prototypes change neither what is shown nor anything outside', async () => {
    const code = `
      Object.prototype.polluted = 1; Object.prototype.toJSON = 5; Array.prototype.push = () => { throw 1 };
      String.prototype.slice = JSON.stringify = Object.keys = Reflect.apply = Array.isArray = null;
      Map.prototype.forEach = Promise.prototype.then = Error.prototype.toString = () => { throw 2 };
      Object.defineProperty(globalThis, 'Error', { get() { throw 3 } });
      console.log([{ a: 'b' }, new Map([[1, 2]])]);
      ({ c: ['d'] })`;
    expect((await run(code)).text).toBe('Logged:\n[{"a":"b"},Map {1:2}]\n\nResult: {"c":["d"]}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('nothing is left for the next run, of the same workspace or of another', async () => {
    await run(
      'globalThis.secret = "s3cret"; Object.prototype.secret = "s3cret"; var kept = "s3cret"; "x".repeat(1e6) + "s3cret"',
    );
    const stranger = { ...scope, workspaceId: app.stranger.workspaceId };
    const code = '[typeof secret, typeof kept, ({}).secret]';
    for (const tools of [toolsFrom(sandboxCapability, scope), toolsFrom(sandboxCapability, stranger)]) {
      expect((await callTool(tools, 'run_javascript', { code })).text).toBe(
        'Result: ["undefined","undefined",undefined]',
      );
    }
  });
});

describe('while code runs', () => {
  test('the service answers, and an abort ends it at once', async () => {
    await run('1');
    const stop = new AbortController();
    let running = true;
    const endless = run('while (true) {}', stop.signal).finally(() => {
      running = false;
    });
    await app.raw.get('/livez').expect(200);
    await app.api('get', '/agents').expect(200);
    expect(running).toBe(true);
    stop.abort(new Error('stopped'));
    await expect(endless).rejects.toThrow('stopped');
    expect((await run('"next"')).text).toBe('Result: "next"');
  });

  test('the event loop turns, and has nothing to do with the code', async () => {
    await run('1');
    let turns = 0;
    const heart = setInterval(() => {
      turns += 1;
    }, 5);
    const ms = await mainThreadMs(() => run('const end = Date.now() + 1000; while (Date.now() < end);'));
    clearInterval(heart);
    expect(ms).toBeLessThan(300);
    // None, if the loop waited; about 200 on a machine that does nothing else.
    expect(turns).toBeGreaterThan(10);
  });
});

test('an agent without the feature has no tool; the section says how to use it', () => {
  expect(toolsFrom(sandboxCapability, { ...scope, snapshot: { ...scope.snapshot, sandboxEnabled: false } })).toEqual(
    [],
  );
  expect(sandboxCapability.section()).toMatch(/^# Sandbox\n\nUse `run_javascript`/);
});
