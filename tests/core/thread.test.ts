import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Thread } from '../../core/thread.ts';
import { until } from '../support/poll.ts';

let folder: string;
let thread: Thread;

/** Answers what it is asked: `later` after 1.5 s without work, `never` and `endless` not at all. After `last` it ends by itself. */
const SCRIPT = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', (question) => {
  if (question === 'never') return;
  while (question === 'endless');
  if (question === 'later') return setTimeout(() => parentPort.postMessage(question), 1_500);
  parentPort.postMessage(question);
  if (question === 'last') parentPort.close();
});
parentPort.postMessage('ready');`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-thread-'));
  await writeFile(join(folder, 'echo.mjs'), SCRIPT);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  thread = new Thread({ script: pathToFileURL(join(folder, 'echo.mjs')), limits: {}, keptMs: 60_000 });
});
afterEach(() => thread.end());

test('a question that is given up in the moment it is asked is not waited for', async () => {
  await thread.ask('first', { limitMs: 10_000 });
  const given = new AbortController();
  const asked = thread.ask('never', { limitMs: 10_000, signal: given.signal });
  given.abort(new Error('given up'));
  await expect(asked).rejects.toThrow('given up');
  expect(thread.isStarted).toBe(false);
});

test('a question that cannot be copied fails, and nothing else does', async () => {
  await thread.ask('first', { limitMs: 10_000 });
  await expect(thread.ask(() => undefined, { limitMs: 10_000 })).rejects.toThrow('could not be cloned');
  expect(await thread.ask('again', { limitMs: 10_000 })).toBe('again');
});

test('a thread that ended by itself between two questions is started again', async () => {
  expect(await thread.ask('last', { limitMs: 10_000 })).toBe('last');
  await until(() => !thread.isStarted);
  expect(await thread.ask('again', { limitMs: 10_000 })).toBe('again');
});

test('what a thread waits for the processor is not counted, and what it computes is', async () => {
  expect(await thread.ask('later', { limitMs: 1_000 })).toBe('later');
  await expect(thread.ask('endless', { limitMs: 200 })).rejects.toMatchObject({ reason: 'late' });
  await expect(thread.ask('never', { limitMs: 20 })).rejects.toMatchObject({ reason: 'late' });
});
