import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../db/connect.ts';
import type { Swept } from '../db/queries/shared/swept.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** The data of each kind of job, by the name of its queue. */
export interface JobData {
  'process-knowledge-source': { workspaceId: string; sourceId: string };
  'process-slow-knowledge-source': { workspaceId: string; sourceId: string };
  'index-knowledge-source': { workspaceId: string; sourceId: string };
  'embed-knowledge-source': { workspaceId: string; sourceId: string };
  'resume-turn': { workspaceId: string; conversationId: string };
  'continue-conversation': { workspaceId: string; conversationId: string };
  'send-follow-up': { workspaceId: string; conversationId: string };
  'take-inbound': { workspaceId: string; connectionId: string; person: string };
  'answer-inbound': { workspaceId: string; conversationId: string };
  'deliver-message': { workspaceId: string; conversationId: string };
  'send-mail': { workspaceId: string; mailId: string };
  'apply-payments': { workspaceId: string };
  'heal-payments': { workspaceId: string };
  'sync-branding': { workspaceId: string };
  'run-automation': { workspaceId: string; executionId: string };
}

/** The name of a kind of job, and of its queue. */
export type JobName = keyof JobData;

/**
 * A pool of places that kinds of job share. Jobs in `turns` and `resuming` wait for models, those in `channels` for the database and for
 * messaging providers, those in `mail` for the mail server; jobs in the others compute, those in `slowReading` for long.
 */
export type PoolName = 'turns' | 'resuming' | 'channels' | 'mail' | 'reading' | 'slowReading' | 'embedding';

/** Queues work for the background. */
export interface Jobs {
  /**
   * Queues a job. Call it after the commit of the rows that it works on. It never rejects: the stored state says what must be done,
   * and the queue only makes it happen sooner. `sweep` finds work that did not reach the queue.
   */
  send<Name extends JobName>(name: Name, data: JobData[Name], options?: SendOptions): Promise<void>;
}

/** When a job is run. */
export interface SendOptions {
  /** Milliseconds from now until it is run at the earliest. Of a kind with `again`, others with its key do not hurry it. */
  afterMs?: number;
}

/** The kinds of job that work on the same data. */
type NextJob<Name extends JobName> = {
  [Other in JobName]: JobData[Name] extends JobData[Other] ? Other : never;
}[JobName];

/** What a job gets from the service. */
export interface JobContext {
  database: Database;
  runtime: Runtime;
  clock: Clock;
  logger: Logger;
  /** For work that follows from this one, or is to be done later. */
  jobs: Jobs;
  /** Aborts when the service stops or the job has run for too long; the job is then run again later. */
  signal: AbortSignal;
}

/** One kind of job. A job may run more than once, and must then have the effect of one run. */
export interface Job<Name extends JobName> {
  name: Name;
  options: {
    /** How many more runs follow a failed first one. */
    retryLimit: number;
    /** Seconds before the next run. `retryBackoff` doubles them each time. */
    retryDelay: number;
    retryBackoff: boolean;
    /** Seconds after which a run counts as failed. */
    expireInSeconds: number;
    /** The pool whose places it takes. */
    pool: PoolName;
    /** Milliseconds from the end of one sweep of a process to the next: how late work may start that was never queued. */
    sweepMs: number;
    /** Whether a job that is queued while one of its key runs is run after it, since the running one may have missed its work. */
    again?: boolean;
  };
  /** One job per key waits or runs at a time. With `again` one waits, whether or not another runs. */
  key(data: JobData[Name]): string;
  /**
   * Does the work. Throws when it must be retried. Returns the kind of job that goes on with it, with the same data, if one does: its own
   * kind is queued once this run has ended, behind the jobs that wait.
   */
  run(data: JobData[Name], context: JobContext): Promise<void> | Promise<NextJob<Name> | undefined>;
  /** Called when the last retry has failed. */
  failed?(data: JobData[Name], context: JobContext): Promise<void>;
  /**
   * Finds work in the stored state, at the start and every `sweepMs`, since its job may never have been queued. Where work is due by the clock,
   * it also finds when more will be due: if that is sooner than `sweepMs`, the next sweep comes at that time.
   */
  sweep(context: JobContext): Promise<Swept<JobData[Name]>>;
  /**
   * Since when the oldest work that is due has been waiting, by the stored state of all workspaces; undefined when none is due. The
   * database gives up after `timeoutMs`. Absent for work that is due at no particular time.
   */
  oldestDue?(context: Pick<JobContext, 'database' | 'clock'>, timeoutMs: number): Promise<Date | undefined>;
}
