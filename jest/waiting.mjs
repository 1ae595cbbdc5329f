import { sep } from 'node:path';

/**
 * Files that leave much of a processor idle for a long time: they start and stop processes of the service one after another, or wait for a lease,
 * a time limit, a page, or a reader of low priority. Together they take less time than half of the others.
 */
const WAITING = [
  'tests/browser/docs.test',
  'tests/core/names.test',
  'tests/faults/',
  'tests/http/http-tools/slowNames',
  'tests/http/messages/deadTurns',
  'tests/http/messages/resumedEffects',
  'tests/jobs/embedKnowledgeSource.test',
  'tests/jobs/knowledgeQueue.test',
  'tests/jobs/queue.test',
  'tests/runtime/knowledge/embeddings.test',
];
/** Those of them that compute: each keeps more than one processor busy. */
const COMPUTING = ['tests/faults/eventLoop', 'tests/faults/pooler'];

/** Whether the path of a test file begins with one of these. */
export const isOneOf =
  (parts) =>
  ({ path }) =>
    parts.some((part) => path.includes(`${sep}${part.replaceAll('/', sep)}`));

/** Whether this test file mostly waits. */
export const waits = (test) => isOneOf(WAITING)(test) && !isOneOf(COMPUTING)(test);
