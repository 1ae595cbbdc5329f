import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Job, JobData, JobName } from '../../jobs/jobs.ts';
import { type ClaimedJob, startWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../jobs/workerPool.ts';
import { until } from '../support/poll.ts';

/** A queue in memory that hands out the oldest job first, as pg-boss does. */
class QueueInMemory {
  readonly waiting: ClaimedJob[] = [];
  readonly fetches: string[] = [];
  readonly touched: string[][] = [];
  readonly outcomes: [string, 'completed' | 'failed'][] = [];
  /** Rejects every call while it is set. */
  down = false;
  #ids = 0;

  add(workspaceId: string, count = 1): void {
    for (let added = 0; added < count; added += 1) {
      this.#ids += 1;
      this.waiting.push({ id: `${this.#ids}`, retryCount: 0, data: { workspaceId } } as ClaimedJob);
    }
  }

  readonly boss = {
    fetch: async (name: string, { ignoreGroups }: { ignoreGroups?: readonly string[] } = {}) => {
      this.fetches.push(name);
      if (this.down) throw new Error('The queue is down.');
      const index = this.waiting.findIndex(({ data }) => !ignoreGroups?.includes(data.workspaceId));
      return index < 0 ? [] : this.waiting.splice(index, 1);
    },
    complete: async (_name: string, { id }: ClaimedJob) => void this.outcomes.push([id, 'completed']),
    fail: async (_name: string, { id }: ClaimedJob) => void this.outcomes.push([id, 'failed']),
    touch: async (_name: string, jobs: readonly ClaimedJob[]) => void this.touched.push(jobs.map(({ id }) => id)),
  } as unknown as WorkerPoolOptions['boss'];
}

const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
const ending = new AbortController();
const pools: WorkerPool[] = [];
afterAll(async () => {
  ending.abort();
  await Promise.all(pools.map((pool) => pool.stop(ending.signal)));
});

function job(parts: Partial<Job<JobName>['options']> = {}): Job<JobName> {
  const options = { retryLimit: 1, retryDelay: 0, retryBackoff: false, expireInSeconds: 60, sweepMs: 60_000, ...parts };
  const name = 'send-follow-up' as const;
  return {
    name,
    options: { pool: 'turns', ...options },
    key: (data: JobData[JobName]) => data.workspaceId,
    run: async () => {},
    sweep: async () => ({ due: [] }),
  };
}

function poolOf(queue: QueueInMemory, parts: Partial<WorkerPoolOptions>): WorkerPool {
  const defaults = { boss: queue.boss, jobs: [job()], places: 2, heartbeatMs: 60_000, run: async () => {}, logger };
  const pool = startWorkerPool({ ...defaults, ...parts });
  pools.push(pool);
  return pool;
}

test('a backlog of one workspace delays the work of another by no more than a round', async () => {
  const queue = new QueueInMemory();
  for (const workspaceId of ['a', 'b', 'c']) queue.add(workspaceId, 200);
  const started: string[] = [];
  const pool = poolOf(queue, {
    run: async (_job, { data }) => {
      started.push(data.workspaceId);
      if (started.length === 100) queue.add('late');
    },
  });
  await until(() => started.includes('late'));
  expect(started.indexOf('late') - 100).toBeLessThanOrEqual(4);
  await pool.stop(ending.signal);
});

test('a workspace with a limit runs no more jobs at a time, however many places are free', async () => {
  const queue = new QueueInMemory();
  queue.add('limited', 40);
  const running = { limited: 0, free: 0 };
  const most = { ...running };
  const pool = poolOf(queue, {
    places: 16,
    limitOf: async (workspaceId) => (workspaceId === 'limited' ? 3 : null),
    run: async (_job, { data }) => {
      const name = data.workspaceId as keyof typeof running;
      running[name] += 1;
      most[name] = Math.max(most[name], running[name]);
      await sleep(5);
      running[name] -= 1;
    },
  });
  queue.add('free', 40);
  await until(() => queue.outcomes.length === 80);
  expect(most.limited).toBe(3);
  expect(most.free).toBeGreaterThan(3);
  await pool.stop(ending.signal);
});

test('a backlog is worked off without a pause', async () => {
  const queue = new QueueInMemory();
  queue.add('a', 300);
  const startedAt = performance.now();
  const pool = poolOf(queue, {});
  await until(() => queue.outcomes.length === 300);
  // With a pause of half a second after each it would be more than a minute.
  expect(performance.now() - startedAt).toBeLessThan(40_000);
  expect(queue.outcomes.every(([, outcome]) => outcome === 'completed')).toBe(true);
  await pool.stop(ending.signal);
});

test('an idle pool asks nothing until it is wakened', async () => {
  const queue = new QueueInMemory();
  const pool = poolOf(queue, { places: 64 });
  await sleep(1_250);
  expect(queue.fetches).toHaveLength(1);
  queue.add('a');
  pool.wake();
  await until(() => queue.outcomes.length === 1);
  await pool.stop(ending.signal);
});

test('the queue learns which job has failed, since it may be due again', async () => {
  const queue = new QueueInMemory();
  queue.add('a', 2);
  const failures: string[] = [];
  const pool = poolOf(queue, {
    run: async (_job, { id }) => {
      if (id === '2') throw new Error('No luck.');
    },
    failed: ({ name }) => void failures.push(name),
  });
  await until(() => queue.outcomes.length === 2);
  expect(failures).toEqual(['send-follow-up']);
  await pool.stop(ending.signal);
});

test('one statement sends the heartbeat of all running jobs', async () => {
  const queue = new QueueInMemory();
  queue.add('a', 3);
  queue.add('b', 1);
  const gate = Promise.withResolvers<void>();
  const pool = poolOf(queue, { places: 8, heartbeatMs: 10, run: () => gate.promise });
  await until(() => queue.touched.some((ids) => ids.length === 4));
  gate.resolve();
  await pool.stop(ending.signal);
});

test('a job that exceeds its time fails with its signal aborted, and frees its place', async () => {
  const queue = new QueueInMemory();
  queue.add('a', 2);
  const reasons: unknown[] = [];
  const pool = poolOf(queue, {
    jobs: [job({ expireInSeconds: 0.02 })],
    places: 1,
    run: (_job, _claimed, signal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return new Promise(() => {});
    },
  });
  await until(() => queue.outcomes.length === 2);
  expect(queue.outcomes).toEqual([
    ['1', 'failed'],
    ['2', 'failed'],
  ]);
  expect(reasons).toEqual([1, 2].map(() => new Error('The job ran for more than 0.02 s.')));
  await pool.stop(ending.signal);
});

test('a queue that is down is asked again', async () => {
  const queue = new QueueInMemory();
  queue.down = true;
  queue.add('a');
  const pool = poolOf(queue, {});
  await until(() => logged.some((line) => line.includes('jobs could not be claimed')));
  queue.down = false;
  await until(() => queue.outcomes.length === 1);
  await pool.stop(ending.signal);
});

test('the stop waits for running jobs; those that ignore the end fail, to be run elsewhere', async () => {
  const queue = new QueueInMemory();
  queue.add('a', 1);
  const gate = Promise.withResolvers<void>();
  const finishing = poolOf(queue, { run: () => gate.promise });
  await until(() => queue.waiting.length === 0);
  const stopping = finishing.stop(new AbortController().signal);
  queue.add('a', 1);
  finishing.wake();
  gate.resolve();
  await stopping;
  expect(queue.outcomes).toEqual([['1', 'completed']]);
  const stubborn = poolOf(queue, { run: () => new Promise(() => {}) });
  await until(() => queue.waiting.length === 0);
  await stubborn.stop(AbortSignal.abort());
  expect(queue.outcomes.at(-1)).toEqual(['2', 'failed']);
});
