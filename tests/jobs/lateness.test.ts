import { sql } from 'kysely';
import { pino } from 'pino';
import { systemClock } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { withStatementTimeout } from '../../db/transaction.ts';
import { continueConversation } from '../../jobs/continueConversation.ts';
import { everyJob } from '../../jobs/everyJob.ts';
import type { Job, JobName } from '../../jobs/jobs.ts';
import { createLatenessReader, type LatenessOptions } from '../../jobs/lateness.ts';
import { begun, publishedAgent } from '../http/messages/turns.ts';
import { makeSource } from '../support/knowledge/knowledge.ts';
import { FOLLOWS_UP, HOUR_MS, sendDue, useFollowUpApp } from '../support/turns/followUps.ts';

const here = useFollowUpApp();
const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
beforeEach(() => void logged.splice(0));

/** Reads the lateness anew each time. */
function readerOf(options: Partial<LatenessOptions> = {}) {
  const context = { database: here.app.database.database, clock: here.clock, logger };
  return createLatenessReader({ jobs: everyJob, context, reusedMs: -1, ...options });
}

const metrics = async () => {
  const { text } = await here.app.raw.get('/metrics').expect(200);
  return text.split('\n').filter((line) => line.startsWith('guildhall_jobs_oldest_due_seconds'));
};

test('without due work every job is at zero, in the metrics of every process and without a workspace', async () => {
  expect(await metrics()).toEqual([
    'guildhall_jobs_oldest_due_seconds{job="process-knowledge-source"} 0',
    'guildhall_jobs_oldest_due_seconds{job="resume-turn"} 0',
    'guildhall_jobs_oldest_due_seconds{job="continue-conversation"} 0',
    'guildhall_jobs_oldest_due_seconds{job="send-follow-up"} 0',
    'guildhall_jobs_oldest_due_seconds{job="run-automation"} 0',
    'guildhall_jobs_oldest_due_seconds{job="take-inbound"} 0',
    'guildhall_jobs_oldest_due_seconds{job="answer-inbound"} 0',
    'guildhall_jobs_oldest_due_seconds{job="deliver-message"} 0',
    'guildhall_jobs_oldest_due_seconds{job="apply-payments"} 0',
    'guildhall_jobs_oldest_due_seconds{job="send-mail"} 0',
  ]);
});

test('a follow-up is late from the time at which it is due until it is sent', async () => {
  const read = readerOf();
  await begun(here.app, await publishedAgent(here.app, FOLLOWS_UP));
  here.clock.advance(2 * HOUR_MS);
  expect((await read()).get('send-follow-up')).toBe(0);
  here.clock.advance(90_000);
  expect((await read()).get('send-follow-up')).toBe(90);
  expect(await metrics()).toContain('guildhall_jobs_oldest_due_seconds{job="send-follow-up"} 90');
  await sendDue(here.app);
  expect((await read()).get('send-follow-up')).toBe(0);
});

test('a knowledge source is late from the time at which it was added', async () => {
  await makeSource(here.app);
  here.clock.advance(30_000);
  expect((await readerOf()()).get('process-knowledge-source')).toBe(30);
});

test('a turn is late from the time at which the lease of its process ended', async () => {
  const conversationId = await begun(here.app, await publishedAgent(here.app));
  await here.app.workspace.db
    .updateTable('conversations')
    .set({ turn_id: newId(), turn_expires_at: new Date(here.clock.now().getTime() - 40_000) })
    .where('id', '=', conversationId)
    .execute();
  expect((await readerOf()()).get('resume-turn')).toBeGreaterThanOrEqual(40);
});

/** A job whose oldest due work is found by this. */
const jobWith = (oldestDue: NonNullable<Job<JobName>['oldestDue']>) =>
  ({ ...continueConversation, oldestDue }) as Job<JobName>;

test('a database that does not answer in time costs one sample, and no scrape', async () => {
  const slow = jobWith(({ database }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, async (system) => {
      await sql`select pg_sleep(60)`.execute(system);
      return undefined;
    }),
  );
  const others = everyJob.filter(({ name }) => name !== slow.name);
  const found = await readerOf({ jobs: [slow, ...others], queryMs: 1_000 })();
  expect([...found.keys()]).toEqual([
    'process-knowledge-source',
    'resume-turn',
    'send-follow-up',
    'run-automation',
    'take-inbound',
    'answer-inbound',
    'deliver-message',
    'apply-payments',
    'send-mail',
  ]);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain('the lateness of a job could not be read');
});

test('scrapes share one question, and its answer for a time', async () => {
  let asked = 0;
  const counting = jobWith(async () => {
    asked += 1;
    return systemClock.now();
  });
  const read = readerOf({ jobs: [counting], reusedMs: 60_000 });
  const found = await Promise.all([read(), read()]);
  found.push(await read());
  expect(found.map((each) => each.size)).toEqual([1, 1, 1]);
  expect(asked).toBe(1);
});
