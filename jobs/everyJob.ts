import { continueConversation } from './continueConversation.ts';
import { embedKnowledgeSource } from './embedKnowledgeSource.ts';
import type { Job, JobName } from './jobs.ts';
import { processKnowledgeSource } from './processKnowledgeSource.ts';
import { sendFollowUp } from './sendFollowUp.ts';

/** Every kind of background work. */
export const everyJob: readonly Job<JobName>[] = [
  processKnowledgeSource,
  embedKnowledgeSource,
  continueConversation,
  sendFollowUp,
];
