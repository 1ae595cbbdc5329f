import { embedKnowledgeSource } from './embedKnowledgeSource.ts';
import type { Job, JobName } from './jobs.ts';
import { processKnowledgeSource } from './processKnowledgeSource.ts';

/** Every kind of background work. */
export const everyJob: readonly Job<JobName>[] = [processKnowledgeSource, embedKnowledgeSource];
