import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import {
  claimKnowledgeSource,
  failKnowledgeSource,
  findKnowledgeSource,
  isToBePurged,
  type KnowledgeSourceRow,
  markPurged,
  settleKnowledgeSource,
} from '../../db/queries/knowledge/knowledgeSources.ts';
import type { DB } from '../../generated/db.ts';
import type { Runtime } from '../runtime.ts';
import { UnreadableFile } from './extract/blocks.ts';
import { EXTRACT_LIMITS, type ExtractLimits, extractPassages, FIRST_LIMITS, SlowFile } from './extract.ts';
import { replacePassages } from './passages.ts';
import { sourceKey } from './sourceKind.ts';

/** What the processing of a workspace's sources depends on. */
export interface ProcessingContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Runtime;
  logger: Logger;
  /** Aborts the run. Its source is processed again later. */
  signal: AbortSignal;
  /** For tests. */
  limits?: ExtractLimits;
}

/** A source that was started so often without an end probably crashes the process that reads it. */
const MAX_ATTEMPTS = 10;
/** The message for a fault of the service. */
const OUR_FAULT = 'The file could not be processed because of a fault of the service. Upload it again later.';

/** Where files are read: each in the first lane, for a short time, and those that take longer in the slow one. */
export type ReadingLane = 'first' | 'slow';

/**
 * Reads a source and makes its passages searchable. The source is then COMPLETED, or FAILED for a fault of its file. Removes
 * everything of a source that was deleted meanwhile. Idempotent. Returns `indexed` when its passages are found by their words, and `slow`
 * when it goes on in the slow lane: its first attempt was too short. Throws when the run must be repeated.
 */
export async function processSource(
  context: ProcessingContext,
  sourceId: string,
  lane: ReadingLane,
): Promise<'indexed' | 'slow' | 'done'> {
  const { db, workspaceId, runtime, signal } = context;
  signal.throwIfAborted();
  const source = await claimKnowledgeSource(db, workspaceId, sourceId, lane === 'slow', runtime.clock.now());
  if (!source) {
    await purgeDeleted(context, sourceId);
    return 'done';
  }
  try {
    if (source.attempts > MAX_ATTEMPTS) throw new UnreadableFile(OUR_FAULT);
    const passages = await read(context, source);
    // Indexing can take long, and is not needed for a deleted source.
    if (await findKnowledgeSource(db, workspaceId, sourceId)) await replacePassages(context, sourceId, passages);
    return (await settle(context, source, { processing_status: 'COMPLETED' })) ? 'indexed' : 'done';
  } catch (error) {
    if (error instanceof SlowFile && !source.is_slow) {
      await giveBack(context, source, { is_slow: true, attempts: source.attempts - 1 });
      return 'slow';
    }
    if (!(error instanceof UnreadableFile)) {
      // A run that was aborted because the service stops does not count as an attempt.
      await giveBack(context, source, { attempts: signal.aborted ? source.attempts - 1 : source.attempts });
      throw error;
    }
    context.logger.info({ sourceId, reason: error.message, cause: error.cause }, 'knowledge source cannot be read');
    const counted = await settle(context, source, { processing_status: 'FAILED', error_message: error.message });
    // Removes passages of an earlier run, but keeps those of a later one.
    if (counted) await replacePassages(context, sourceId, []);
  }
  return 'done';
}

/** Marks a source as FAILED after its last run has failed. */
export async function failSource(
  { db, workspaceId, runtime }: Pick<ProcessingContext, 'db' | 'workspaceId' | 'runtime'>,
  sourceId: string,
): Promise<void> {
  await failKnowledgeSource(db, workspaceId, sourceId, OUR_FAULT, runtime.clock.now());
}

async function read({ workspaceId, runtime, signal, limits }: ProcessingContext, source: KnowledgeSourceRow) {
  const folder = await makeTemporaryFolder(runtime.temporaryDir);
  try {
    const path = join(folder, 'source');
    await runtime.files.fetch(sourceKey(workspaceId, source.id), path);
    const usual = source.is_slow ? EXTRACT_LIMITS : FIRST_LIMITS;
    return await extractPassages(path, source.file_kind, { signal, limits: limits ?? usual });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Stores the end of a run, unless the source was deleted or a later run has started. Returns whether it was stored. */
async function settle(
  context: ProcessingContext,
  source: KnowledgeSourceRow,
  end: { processing_status: 'COMPLETED' } | { processing_status: 'FAILED'; error_message: string },
): Promise<boolean> {
  const now = context.runtime.clock.now();
  const counted = await settleKnowledgeSource(context.db, source, { ...end, last_processed_at: now, updated_at: now });
  if (!counted) await purgeDeleted(context, source.id);
  return counted;
}

/** Puts the source back, for another run. Removes what there is of one that was deleted; where the service stops, its next start does. */
async function giveBack(
  context: ProcessingContext,
  source: KnowledgeSourceRow,
  change: { attempts: number; is_slow?: boolean },
): Promise<void> {
  const { db, runtime, logger, signal } = context;
  const now = runtime.clock.now();
  try {
    const counted = await settleKnowledgeSource(db, source, {
      processing_status: 'PENDING',
      updated_at: now,
      ...change,
    });
    if (!counted && !signal.aborted) await purgeDeleted(context, source.id);
  } catch (error) {
    // It stays in PROCESSING, where the next start finds it.
    logger.warn({ err: error, sourceId: source.id }, 'knowledge source not given back');
  }
}

/** Removes the passages and the file of a source that is deleted. */
async function purgeDeleted(context: ProcessingContext, sourceId: string): Promise<void> {
  const { db, workspaceId, runtime } = context;
  if (!(await isToBePurged(db, workspaceId, sourceId))) return;
  await replacePassages(context, sourceId, []);
  await runtime.files.delete(sourceKey(workspaceId, sourceId));
  await markPurged(db, workspaceId, sourceId, runtime.clock.now());
}
