import type { Job, JobName } from './jobs.ts';

/** Every kind of background work. */
export const everyJob: readonly Job<JobName>[] = [];
