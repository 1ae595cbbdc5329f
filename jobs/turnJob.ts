import type { Job, JobName } from './jobs.ts';

/**
 * How the queue treats a job that runs a turn. It tries none again: the stored state says what is left to do, and what is to be tried
 * again has a time of its own.
 */
export const turnJob = {
  retryLimit: 0,
  retryDelay: 1,
  retryBackoff: false,
  // Longer than a turn may take.
  expireInSeconds: 330,
  pool: 'turns',
} satisfies Partial<Job<JobName>['options']>;
