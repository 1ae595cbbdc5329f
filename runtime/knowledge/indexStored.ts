import { countStoredWords, replaceSourceIndex, updatePassageWords } from '../../db/queries/knowledge/knowledgeIndex.ts';
import { countWords, flushPassages, lockSource, selectPassages } from '../../db/queries/knowledge/knowledgePassages.ts';
import { findKnowledgeSource } from '../../db/queries/knowledge/knowledgeSources.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { KnowledgeContext } from './passages.ts';
import { shapeOf } from './terms.ts';
import { indexPassages } from './wordIndex.ts';

/** Rows of one statement. */
const PASSAGES_AT_ONCE = 500;

/**
 * Writes the words, stems and counts of a processed source anew, from its stored passages: for those that were stored before passages had stems. Searches find the
 * passages meanwhile as they did before. Returns false when the source was deleted or is processed again: then that does it. Throws the signal's reason when it aborts.
 */
export async function indexStoredPassages(
  { db, workspaceId, signal }: Pick<KnowledgeContext, 'db' | 'workspaceId'> & { signal?: AbortSignal | undefined },
  sourceId: string,
): Promise<boolean> {
  const source = await findKnowledgeSource(db, workspaceId, sourceId);
  if (source?.processing_status !== 'COMPLETED') return false;
  const passages = await selectPassages(db, workspaceId, sourceId);
  const { rows, counts, source: index } = await indexPassages(db, passages);
  signal?.throwIfAborted();
  return await inTransaction(db, async (trx) => {
    if (!(await lockSource(trx, workspaceId, sourceId, false))) return false;
    const now = await findKnowledgeSource(trx, workspaceId, sourceId);
    // Each processing counts as an attempt, and replaces the passages under the same lock.
    if (now?.processing_status !== 'COMPLETED' || now.attempts !== source.attempts) return false;
    const changes = new Map(counts);
    for (const [word, before] of await countStoredWords(trx, workspaceId, sourceId)) {
      changes.set(word, (changes.get(word) ?? 0) - before);
    }
    for (let start = 0; start < rows.length; start += PASSAGES_AT_ONCE) {
      signal?.throwIfAborted();
      await updatePassageWords(trx, workspaceId, sourceId, rows.slice(start, start + PASSAGES_AT_ONCE));
    }
    await flushPassages(trx);
    await replaceSourceIndex(trx, workspaceId, sourceId, index);
    await countWords(trx, workspaceId, changes, shapeOf);
    return true;
  });
}
