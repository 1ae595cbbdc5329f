import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ThreadStopped } from '../../core/thread.ts';
import { ThreadLanes, type ThreadLanesOptions } from '../../core/threadLanes.ts';
import { ThreadPool } from '../../core/threadPool.ts';

const PRIORITY = new URL('../../core/threadPriority.ts', import.meta.url);
/** Computes for so many milliseconds of the processor and answers with its nice value; a negative number never ends. */
const SCRIPT = `
import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { adoptThreadPriority } from ${JSON.stringify(PRIORITY)};
adoptThreadPriority();
parentPort.on('message', (ms) => {
  const before = process.threadCpuUsage().user;
  while (ms < 0 || process.threadCpuUsage().user - before < ms * 1000);
  parentPort.postMessage(Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1].split(' ')[16]));
});
parentPort.postMessage('ready');`;

let folder: string;
let usual: ThreadLanesOptions<number>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-lanes-'));
  await writeFile(join(folder, 'busy.mjs'), SCRIPT);
  usual = {
    script: pathToFileURL(join(folder, 'busy.mjs')),
    limits: {},
    keptMs: 1_000,
    threads: 1,
    firstMs: 200,
    slowThreads: 1,
    waitingOfOne: 16,
    waitingOfAll: 64,
    limitMs: 60_000,
  };
});
afterAll(() => rm(folder, { recursive: true }));

const END = -1;

test('short work of one workspace ends while endless work of another fills both lanes', async () => {
  const lanes = new ThreadLanes<number, number>(usual);
  const stop = new AbortController();
  let ended = 0;
  const endless = Array.from({ length: 12 }, () =>
    lanes.run('hostile', END, stop.signal).catch(() => {
      ended += 1;
    }),
  );
  for (let asked = 0; asked < 3; asked += 1) await lanes.run('ordinary', 1);
  expect(ended).toBe(0);
  stop.abort(new Error('enough'));
  await Promise.all(endless);
});

test('in the slow lane workspaces take turns: long work waits for one run of each other workspace', async () => {
  const lanes = new ThreadLanes<number, number>({ ...usual, limitMs: 500 });
  const order: string[] = [];
  const run = (workspaceId: string, ms: number) =>
    lanes
      .run(workspaceId, ms)
      .catch((error: unknown) => expect(error).toBeInstanceOf(ThreadStopped))
      .then(() => order.push(workspaceId));
  const hostile = Array.from({ length: 5 }, () => run('hostile', END));
  const ordinary = run('ordinary', 300);
  await Promise.all([...hostile, ordinary]);
  expect(order).toHaveLength(6);
  expect(order.indexOf('ordinary')).toBeLessThanOrEqual(2);
});

test('with two slow threads long work of a workspace does not wait for endless work of another, which has one of them', async () => {
  const lanes = new ThreadLanes<number, number>({ ...usual, slowThreads: 2 });
  const stop = new AbortController();
  let ended = 0;
  const endless = Array.from({ length: 5 }, () =>
    lanes.run('hostile', END, stop.signal).catch(() => {
      ended += 1;
    }),
  );
  for (let asked = 0; asked < 2; asked += 1) await lanes.run('ordinary', 250);
  expect(ended).toBe(0);
  stop.abort(new Error('enough'));
  await Promise.all(endless);
  // What waited has gone, and both threads can be used again.
  expect((await Promise.all([lanes.run('a', 250), lanes.run('b', 250), lanes.run('a', 250)])).length).toBe(3);
});

test('a workspace that asks for the first time waits for runs under way only, and finds room in a full queue', async () => {
  const hostile = Array.from({ length: 8 }, (_, index) => `hostile${index}`);
  const pool = new ThreadPool<number, number>({ ...usual, threads: 2, ofOne: 1, limitMs: 100, waitingOfAll: 6 });
  const stop = new AbortController();
  let late = 0;
  const run = (workspaceId: string) =>
    pool.run(workspaceId, END, stop.signal).catch((error: unknown) => {
      if (error instanceof ThreadStopped) late += 1;
    });
  await Promise.all(hostile.map(run));
  const waiting = hostile.map(run);
  const before = late;
  await pool.run('ordinary', 1);
  // Of six that waited before it perhaps those of the other thread, while this one started.
  expect(late - before).toBeLessThanOrEqual(4);
  stop.abort(new Error('enough'));
  await Promise.all(waiting);
});

test('work that never ends is stopped at the limit of the slow lane', async () => {
  const lanes = new ThreadLanes<number, number>({ ...usual, firstMs: 50, limitMs: 300 });
  const error = await lanes.run('a', END).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ThreadStopped);
  expect((error as ThreadStopped).reason).toBe('late');
  expect(typeof (await lanes.run('a', 1))).toBe('number');
});

test('requests go before the work of the slow lane', async () => {
  const lanes = new ThreadLanes<number, number>({ ...usual, firstMs: 200 });
  const own = Number((await readFile('/proc/self/stat', 'utf8')).split(') ')[1]?.split(' ')[16]);
  expect(await lanes.run('a', 1)).toBe(own);
  expect(await lanes.run('a', 300)).toBeGreaterThan(own);
});
