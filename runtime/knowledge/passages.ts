import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { replaceSourceIndex } from '../../db/queries/knowledge/knowledgeIndex.ts';
import {
  countWords,
  flushPassages,
  insertPassages,
  lockSource,
  removePassages,
} from '../../db/queries/knowledge/knowledgePassages.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { Runtime } from '../runtime.ts';
import { shapeOf } from './terms.ts';
import { indexPassages } from './wordIndex.ts';

/** A part of a source, the unit of search. */
export interface Passage {
  /** Its position in the source, from 0. */
  seq: number;
  /** The headings above it. */
  heading: string | null;
  page: number | null;
  content: string;
}

/** What the index and its search depend on. */
export interface KnowledgeContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Pick<Runtime, 'models'>;
  /** Logs failed calls of the embedding model. The search continues without them. */
  logger?: Pick<Logger, 'warn'> | undefined;
}

/** Rows of one statement. */
const PASSAGES_AT_ONCE = 500;

/**
 * Replaces all passages of a source and their index entries in one transaction. Their vectors go with the old ones; `embedSource` fetches
 * new ones. Stores nothing for a source that is deleted. An empty list removes all passages. Throws the signal's reason when it aborts.
 */
export async function replacePassages(
  context: KnowledgeContext & { signal?: AbortSignal | undefined },
  sourceId: string,
  passages: readonly Passage[],
): Promise<void> {
  const { db, workspaceId, signal } = context;
  const { rows, counts, source } = await indexPassages(db, passages);
  signal?.throwIfAborted();
  await inTransaction(db, async (trx) => {
    if (!(await lockSource(trx, workspaceId, sourceId, rows.length === 0))) return;
    const changes = new Map(counts);
    for (const [word, gone] of await removePassages(trx, workspaceId, sourceId)) {
      changes.set(word, (changes.get(word) ?? 0) - gone);
    }
    for (const some of chunks(rows, PASSAGES_AT_ONCE)) await insertPassages(trx, workspaceId, sourceId, some);
    await flushPassages(trx);
    await replaceSourceIndex(trx, workspaceId, sourceId, source);
    await countWords(trx, workspaceId, changes, shapeOf);
  });
}

function* chunks<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}
