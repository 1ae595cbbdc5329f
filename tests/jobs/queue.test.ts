import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { jobQueued, subscribe } from '../../db/events.ts';
import { poolPlaces } from '../../jobs/everyJob.ts';
import type { Job, JobContext, JobData, JobName } from '../../jobs/jobs.ts';
import { type Queue, startQueue } from '../../jobs/queue.ts';
import { adminQuery, createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { startDatabaseProxy } from '../support/db/databaseProxy.ts';
import { until } from '../support/poll.ts';

type Data = JobData['process-knowledge-source'];
type TestJob = Job<'process-knowledge-source'>;

let scratch: TestDatabase;
const queues: Queue[] = [];

beforeEach(async () => {
  scratch = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.stop(0)));
  await scratch.drop();
});

const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });

function jobWith(parts: Partial<TestJob>): TestJob {
  return {
    name: 'process-knowledge-source',
    options: {
      retryLimit: 1,
      retryDelay: 0,
      retryBackoff: false,
      expireInSeconds: 60,
      pool: 'reading',
      sweepMs: 60_000,
    },
    key: ({ sourceId }) => sourceId,
    run: async () => {},
    sweep: async () => ({ due: [] }),
    ...parts,
  };
}

function queueOf(job: TestJob, work: boolean, url = scratch.url): Queue {
  return queueOfJobs([job], work, url);
}

function queueOfJobs(jobs: readonly Job<JobName>[], work: boolean, url = scratch.url): Queue {
  const context = { database: scratch.database, runtime: {} as JobContext['runtime'], clock: systemClock, logger };
  const queue = startQueue({ connection: { connectionString: url }, jobs, work, places: poolPlaces(64), context });
  queues.push(queue);
  return queue;
}

const data = (): Data => ({ workspaceId: newId(), sourceId: newId() });

test('a job that one process queues is run by another, once', async () => {
  const ran: Data[] = [];
  const sent = data();
  await queueOf(jobWith({}), false).send('process-knowledge-source', sent);
  queueOf(jobWith({ run: async (each) => void ran.push(each) }), true);
  await until(() => ran.length > 0);
  expect(ran).toEqual([sent]);
});

test('one job per key waits at a time', async () => {
  const ran: string[] = [];
  const api = queueOf(jobWith({}), false);
  const [one, two] = [data(), data()];
  for (const each of [one, one, two, one]) await api.send('process-knowledge-source', each);
  queueOf(jobWith({ run: async ({ sourceId }) => void ran.push(sourceId) }), true);
  const marker = data();
  await until(() => ran.length >= 2);
  await api.send('process-knowledge-source', marker);
  await until(() => ran.includes(marker.sourceId));
  expect(ran.toSorted()).toEqual([one.sourceId, two.sourceId, marker.sourceId].toSorted());
});

test.each([
  [undefined, 1],
  [true, 2],
])('a job that is sent while one of its key runs: with `again` %s there are %i runs', async (again, runs) => {
  const ran: string[] = [];
  const gate = Promise.withResolvers<void>();
  const job = jobWith({
    run: async ({ sourceId }) => {
      ran.push(sourceId);
      if (ran.length === 1) await gate.promise;
    },
  });
  if (again) job.options.again = again;
  const queue = queueOf(job, true);
  const sent = data();
  const marker = { ...data(), workspaceId: sent.workspaceId };
  await queue.send('process-knowledge-source', sent);
  await until(() => ran.length === 1);
  await queue.send('process-knowledge-source', sent);
  gate.resolve();
  // Jobs of one workspace run in the order in which they were queued.
  await queue.send('process-knowledge-source', marker);
  await until(() => ran.includes(marker.sourceId));
  expect(ran.filter((id) => id === sent.sourceId)).toHaveLength(runs);
});

test('a workspace with more jobs than the queue runs at a time leaves a place to others', async () => {
  const ran: string[] = [];
  const gate = Promise.withResolvers<void>();
  const [many, few] = [newId(), newId()];
  const job = jobWith({
    run: async ({ workspaceId }) => {
      ran.push(workspaceId);
      if (workspaceId === many) await gate.promise;
    },
  });
  const queue = queueOf(job, true);
  for (const workspaceId of [many, many, many, few]) await queue.send(job.name, { ...data(), workspaceId });
  await until(() => ran.includes(few));
  expect(ran.filter((id) => id === many)).toHaveLength(1);
  gate.resolve();
  await until(() => ran.length === 4);
});

test('a failed job is retried, and its handler learns when the last attempt has failed', async () => {
  let runs = 0;
  const failed: Data[] = [];
  const sent = data();
  const queue = queueOf(
    jobWith({
      run: async () => {
        runs += 1;
        throw new Error('The run fails.');
      },
      failed: async (each) => void failed.push(each),
    }),
    true,
  );
  await queue.send('process-knowledge-source', sent);
  await until(() => failed.length > 0);
  expect([runs, failed]).toEqual([2, [sent]]);
});

test('work that was stored and never queued is swept up at start', async () => {
  const lost = data();
  const ran: Data[] = [];
  queueOf(jobWith({ sweep: async () => ({ due: [lost] }), run: async (each) => void ran.push(each) }), true);
  await until(() => ran.length > 0);
  expect(ran).toEqual([lost]);
});

test('work that may have been missed is swept up on demand', async () => {
  const lost = data();
  // What a sweep has told of is due no more: the next one would queue it again.
  const due: Data[] = [];
  const ran: Data[] = [];
  let sweeps = 0;
  const sweep = async () => {
    sweeps += 1;
    return { due: due.splice(0) };
  };
  const queue = queueOf(jobWith({ sweep, run: async (each) => void ran.push(each) }), true);
  await until(() => sweeps === 1);
  due.push(lost);
  // The first sweep may still be under way; a sweep does not run beside another of its job.
  await until(() => {
    queue.sweep('process-knowledge-source');
    return ran.length > 0;
  });
  expect(ran).toEqual([lost]);
});

test('a job whose sweep fails does not keep other jobs from being swept', async () => {
  const lost = data();
  const ran: Data[] = [];
  const failing = jobWith({ sweep: () => Promise.reject(new Error('The sweep of the first job fails.')) });
  const other = jobWith({ sweep: async () => ({ due: [lost] }), run: async (each) => void ran.push(each) });
  queueOfJobs([failing, { ...other, name: 'send-follow-up' } as Job<JobName>], true);
  await until(() => ran.length > 0);
  expect(ran).toEqual([lost]);
  expect(logged.some((line) => line.includes('The sweep of the first job fails.'))).toBe(true);
});

test('a job that the stop interrupts is run by the next worker, and does not count as failed for good', async () => {
  const began: string[] = [];
  const failed: Data[] = [];
  const first = queueOf(
    jobWith({
      options: {
        retryLimit: 1,
        retryDelay: 0,
        retryBackoff: false,
        expireInSeconds: 60,
        pool: 'embedding',
        sweepMs: 60_000,
      },
      run: (_data, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          began.push('first');
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      failed: async (each) => void failed.push(each),
    }),
    true,
  );
  await first.send('process-knowledge-source', data());
  await until(() => began.length > 0);
  await first.stop(0);
  queueOf(jobWith({ run: async () => void began.push('second') }), true);
  await until(() => began.includes('second'));
  expect(failed).toEqual([]);
});

test('a queue that cannot be reached rejects nothing, and works as soon as it can be reached', async () => {
  const line = await startDatabaseProxy(scratch.url);
  await line.cut();
  const ran: Data[] = [];
  const [lost, found] = [data(), data()];
  const api = queueOf(jobWith({}), false, line.url);
  await api.send('process-knowledge-source', lost);
  queueOf(jobWith({ run: async (each) => void ran.push(each) }), true, line.url);
  await until(() => logged.some((line) => line.includes('did not start; the start is retried')));
  await line.mend();
  await api.send('process-knowledge-source', found);
  await until(() => ran.length > 0);
  expect(ran).toEqual([found]);
  await Promise.all(queues.splice(0).map((queue) => queue.stop(0)));
  await line.cut();
});

test('a job that is sent after the stop starts nothing', async () => {
  const api = queueOf(jobWith({}), false);
  await api.stop(0);
  await api.send('process-knowledge-source', data());
  const sessions = 'select datname from pg_stat_activity where datname = current_database()';
  expect(await adminQuery(`${sessions} and application_name = 'guildhall-jobs'`, scratch.name)).toEqual([]);
});

test('an idle worker takes up at once what another process queues, and a retry when it is due', async () => {
  const ran: [string, number][] = [];
  const sent = data();
  const options = { ...jobWith({}).options, retryDelay: 2 };
  const run = async ({ sourceId }: Data) => {
    ran.push([sourceId, performance.now()]);
    if (ran.length === 1) throw new Error('The first run fails.');
  };
  const worker = queueOf(jobWith({ options, run }), true);
  const end = await subscribe(scratch.database, jobQueued, {
    received: ({ queue }) => worker.wake(queue),
    missed: () => worker.wake(),
    logger,
  });
  const marker = data();
  await worker.send('process-knowledge-source', marker);
  await until(() => ran.length === 2);
  const api = queueOf(jobWith({ options }), false);
  await api.send('process-knowledge-source', sent);
  const queuedAt = performance.now();
  await until(() => ran.length === 3);
  end();
  const [first, retried, other] = ran.map(([, at]) => at);
  // Far less than the ten seconds after which the worker looks by itself; and a retry comes no sooner than it is due.
  expect((other ?? 0) - queuedAt).toBeLessThan(5_000);
  expect((retried ?? 0) - (first ?? 0)).toBeGreaterThan(1_000);
  expect((retried ?? 0) - (first ?? 0)).toBeLessThan(7_000);
});

test('a job whose notification was lost is found by the next look', async () => {
  const ran: Data[] = [];
  queueOf(jobWith({ run: async (each) => void ran.push(each) }), true);
  await sleep(1_500);
  const sent = data();
  await queueOf(jobWith({}), false).send('process-knowledge-source', sent);
  await until(() => ran.length > 0);
  expect(ran).toEqual([sent]);
});

test('a job that is given back by a worker that stops is announced to the others', async () => {
  const began: string[] = [];
  const announced: string[] = [];
  const stopping = queueOf(
    jobWith({
      options: { ...jobWith({}).options, retryDelay: 1 },
      run: (_data, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          began.push('first');
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    }),
    true,
  );
  await stopping.send('process-knowledge-source', data());
  await until(() => began.length > 0);
  const end = await subscribe(scratch.database, jobQueued, {
    received: ({ queue }) => void announced.push(queue),
    missed: () => {},
    logger,
  });
  await stopping.stop(0);
  await until(() => announced.length > 0);
  end();
  expect(announced).toEqual(['process-knowledge-source']);
});

test('files of one workspace that take long do not hold up the files of another', async () => {
  const hostile = newId();
  const stop = new AbortController();
  const ended: string[] = [];
  const first = jobWith({
    run: async ({ workspaceId }) => {
      // The first attempt.
      if (workspaceId === hostile) {
        await sleep(100);
        return 'process-slow-knowledge-source';
      }
      ended.push(workspaceId);
    },
  });
  const slow: Job<'process-slow-knowledge-source'> = {
    ...jobWith({}),
    name: 'process-slow-knowledge-source',
    options: { ...first.options, pool: 'slowReading' },
    async run({ workspaceId }, { signal }) {
      await new Promise((_resolve, reject) => {
        for (const each of [signal, stop.signal]) each.addEventListener('abort', () => reject(new Error('stopped')));
      });
      ended.push(workspaceId);
    },
  };
  const queue = queueOfJobs([first, slow] as unknown as Job<JobName>[], true);
  await Promise.all(
    Array.from({ length: 8 }, () =>
      queue.send('process-knowledge-source', { workspaceId: hostile, sourceId: newId() }),
    ),
  );
  const ordinary = Array.from({ length: 3 }, data);
  for (const each of ordinary) await queue.send('process-knowledge-source', each);
  await until(() => ended.length === 3);
  expect(ended.toSorted()).toEqual(ordinary.map(({ workspaceId }) => workspaceId).toSorted());
  stop.abort();
});
