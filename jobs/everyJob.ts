import { answerInbound } from './answerInbound.ts';
import { applyPayments } from './applyPayments.ts';
import { continueConversation } from './continueConversation.ts';
import { deliverMessage } from './deliverMessage.ts';
import { embedKnowledgeSource } from './embedKnowledgeSource.ts';
import { healPayments } from './healPayments.ts';
import { indexKnowledgeSource } from './indexKnowledgeSource.ts';
import type { Job, JobName, PoolName } from './jobs.ts';
import { processKnowledgeSource, processSlowKnowledgeSource } from './processKnowledgeSource.ts';
import { resumeDeadTurn } from './resumeTurn.ts';
import { runAutomation } from './runAutomation.ts';
import { sendFollowUp } from './sendFollowUp.ts';
import { sendMail } from './sendMail.ts';
import { syncBranding } from './syncBranding.ts';
import { takeInbound } from './takeInbound.ts';

/** Every kind of job. */
export const everyJob: readonly Job<JobName>[] = [
  processKnowledgeSource,
  processSlowKnowledgeSource,
  embedKnowledgeSource,
  indexKnowledgeSource,
  resumeDeadTurn,
  continueConversation,
  sendFollowUp,
  runAutomation,
  takeInbound,
  answerInbound,
  deliverMessage,
  syncBranding,
  applyPayments,
  healPayments,
  sendMail,
];

/** How many jobs of each pool run at a time in one process. Few of those that compute, so that requests get the cores. */
export const poolPlaces = (backgroundTurns: number): Record<PoolName, number> => ({
  turns: backgroundTurns,
  // Turns that have begun wait for none that is new. The process that died ran those of requests, too, which have no places.
  resuming: 4 * backgroundTurns,
  // They wait, too: a tenant whose files are slow must leave places to others.
  channels: backgroundTurns,
  // One mail server serves all: while it is slow, nothing but mails waits.
  mail: 8,
  reading: 2,
  slowReading: 1,
  // They wait for a model. One workspace never holds both.
  embedding: 2,
});
