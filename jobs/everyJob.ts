import { continueConversation } from './continueConversation.ts';
import { embedKnowledgeSource } from './embedKnowledgeSource.ts';
import type { Job, JobName, PoolName } from './jobs.ts';
import { processKnowledgeSource } from './processKnowledgeSource.ts';
import { sendFollowUp } from './sendFollowUp.ts';

/** Every kind of background work. */
export const everyJob: readonly Job<JobName>[] = [
  processKnowledgeSource,
  embedKnowledgeSource,
  continueConversation,
  sendFollowUp,
];

/** Jobs at a time in one process, by pool. What computes keeps the cores free for requests. */
export const poolPlaces = (backgroundTurns: number): Record<PoolName, number> => ({
  turns: backgroundTurns,
  reading: 2,
  embedding: 1,
});
