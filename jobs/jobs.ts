import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../db/connect.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** Every kind of background work by the name of its queue, and what a job of it carries. */
export interface JobData {
  'process-knowledge-source': { workspaceId: string; sourceId: string };
  'embed-knowledge-source': { workspaceId: string; sourceId: string };
  'continue-conversation': { workspaceId: string; conversationId: string };
  'send-follow-up': { workspaceId: string; conversationId: string };
}

/** A kind of background work. */
export type JobName = keyof JobData;

/** Jobs of one pool share its places. `turns` wait for models, `reading` and `embedding` compute. */
export type PoolName = 'turns' | 'reading' | 'embedding';

/** Takes work that is to be done in the background. */
export interface Jobs {
  /**
   * Queues a job; call it after the commit of what it is about. It never rejects: the stored state says what is to be done, the
   * queue only says it sooner, and what did not reach it is found by `sweep`.
   */
  send<Name extends JobName>(name: Name, data: JobData[Name]): Promise<void>;
}

/** What a job works with. */
export interface JobContext {
  database: Database;
  runtime: Runtime;
  clock: Clock;
  logger: Logger;
  /** Aborted when the service stops: the job is given up and run again later. */
  signal: AbortSignal;
}

/** How one kind of job is run. It may run more than once, so its effect must be that of running once. */
export interface Job<Name extends JobName> {
  name: Name;
  options: {
    /** Runs after the first one that failed. */
    retryLimit: number;
    /** Seconds before the next run; doubled each time with `retryBackoff`. */
    retryDelay: number;
    retryBackoff: boolean;
    /** A run that takes longer counts as failed. */
    expireInSeconds: number;
    /** Where it runs. */
    pool: PoolName;
    /** Milliseconds between two sweeps of one process: how late work runs that was never queued. */
    sweepMs: number;
    /** A job that is sent while one of its key runs is run after it: for work that may have come too late for the one that runs. */
    again?: boolean;
  };
  /** One job per key waits or runs at a time; with `again` one waits, whether or not others run. */
  key(data: JobData[Name]): string;
  /** Does the work; throws when it is to be tried again. */
  run(data: JobData[Name], context: JobContext): Promise<void>;
  /** Called when the last run has failed. */
  failed?(data: JobData[Name], context: JobContext): Promise<void>;
  /** Work that is to be done by the stored state: asked at start and every `sweepMs`, since its job may never have been queued. */
  sweep(context: JobContext): Promise<JobData[Name][]>;
  /**
   * Since when the oldest work that is due has been waiting, by the stored state of all workspaces; undefined when none is due. The
   * database gives up after `timeoutMs`. Absent for work that is due at no particular time.
   */
  oldestDue?(context: Pick<JobContext, 'database' | 'clock'>, timeoutMs: number): Promise<Date | undefined>;
}
