import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { ApiError } from '../../core/errors.ts';
import {
  type EmbeddingsRow,
  insertEmbeddings,
  listPassagesAfter,
  lockEmbeddings,
  updateEmbeddings,
} from '../../db/queries/knowledge/knowledgeEmbeddings.ts';
import { insertVectors, lockSource, removeEmbeddings } from '../../db/queries/knowledge/knowledgePassages.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Runtime } from '../runtime.ts';
import type { Vector } from './embeddingCall.ts';
import { embeddingModelKey } from './embeddingForms.ts';
import { embedPassages, signsOf } from './embeddings.ts';
import type { KnowledgeContext } from './passages.ts';

/** What the embedding of a source depends on. */
export interface EmbeddingContext extends Omit<KnowledgeContext, 'logger' | 'runtime'> {
  runtime: Pick<Runtime, 'models' | 'clock'>;
  logger?: Pick<Logger, 'info' | 'warn'> | undefined;
  /** Ends the run; what is stored stays. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which the run makes no further call, and milliseconds of a call; for tests. */
  sliceMs?: number;
  timeoutMs?: number;
}

/** A source has its place for so long, and then the next workspace has its turn. */
const SLICE_MS = 10_000;
/** Passages that are read at a time, of several calls. */
const PASSAGES_AT_ONCE = 300;
const MAX_FAILURE_CHARS = 2_000;

/** How a run ended: with all vectors there, with some still to come, or without a source to work on. */
export type EmbeddingRun = 'done' | 'more' | 'gone';

/**
 * Fetches vectors of the configured model for the passages of a processed source, in their order, from the first one that has none. Each
 * call's vectors are stored before the next are waited for, so that a run that dies or fails loses one call. Ends after some seconds with
 * `more`, so that sources take turns. Vectors of another model are removed first. Passages that the model refuses stay without one. Throws
 * MODEL_PROVIDER_ERROR when the model fails, and the signal's reason.
 */
export async function embedSource(context: EmbeddingContext, sourceId: string): Promise<EmbeddingRun> {
  const { workspaceId, runtime, logger } = context;
  if (!runtime.models.embeddings) return 'gone';
  const model = embeddingModelKey(runtime.models.embeddings);
  try {
    return await runSlice(context, sourceId, model);
  } catch (error) {
    if (!context.signal?.aborted && error instanceof ApiError) {
      const failure = error.message.slice(0, MAX_FAILURE_CHARS);
      const change = { failure, failed_at: runtime.clock.now() };
      await updateEmbeddings(context.db, { workspaceId, sourceId, model }, change).catch((other: unknown) =>
        logger?.warn({ err: other, sourceId }, 'the failure of an embedding could not be stored'),
      );
    }
    throw error;
  }
}

async function runSlice(context: EmbeddingContext, sourceId: string, model: string): Promise<EmbeddingRun> {
  const { db, workspaceId, runtime, logger, signal, sliceMs = SLICE_MS, timeoutMs } = context;
  let row = await begin(context, sourceId, model, (known) => known.model !== model);
  if (!row) return 'gone';
  if (row.completed_at) return 'done';
  const begun = performance.now();
  const goesOn = () => performance.now() - begun < sliceMs;
  let isFirst = true;
  for (;;) {
    const passages = await listPassagesAfter(db, workspaceId, sourceId, row.embedded_to, PASSAGES_AT_ONCE);
    if (passages.length === 0) {
      const change = { completed_at: runtime.clock.now(), failure: null, failed_at: null };
      await updateEmbeddings(db, { workspaceId, sourceId, model }, change);
      logger?.info(
        { sourceId, model, passages: row.embedded_to + 1, refused: row.refused },
        'knowledge source embedded',
      );
      return 'done';
    }
    const limits = timeoutMs === undefined ? { goesOn } : { goesOn, timeoutMs };
    const calls = embedPassages(runtime.models, passages.map(embeddedText), { workspaceId, signal, ...limits });
    let stored = 0;
    for await (const vectors of calls) {
      const length = vectors.find((vector) => vector !== null)?.length;
      if (isFirst && length !== undefined && row.dimensions !== null && row.dimensions !== length) {
        logger?.warn(
          { sourceId, model, dimensions: length },
          'vectors have another length than those stored: begun anew',
        );
        await begin(context, sourceId, model, () => true);
        return 'more';
      }
      isFirst = false;
      const next = await store(context, row, passages.slice(stored, stored + vectors.length), vectors);
      if (!next) return 'gone';
      row = next;
      stored += vectors.length;
    }
    if (stored < passages.length || (passages.length === PASSAGES_AT_ONCE && !goesOn())) {
      logger?.info({ sourceId, model, embedded: row.embedded_to + 1 }, 'knowledge source is being embedded');
      return 'more';
    }
  }
}

/** The meaning of a passage depends on its headings. */
function embeddedText({ heading, content }: { heading: string | null; content: string }): string {
  return heading === null ? content : `${heading}\n${content}`;
}

/** The row of a source that exists and has passages; a new one where there is none, or where `anew` says that its vectors are of no use. */
function begin(
  { db, workspaceId }: EmbeddingContext,
  sourceId: string,
  model: string,
  anew: (known: EmbeddingsRow) => boolean,
): Promise<EmbeddingsRow | undefined> {
  return inTransaction(db, async (trx) => {
    if (!(await lockSource(trx, workspaceId, sourceId, false))) return undefined;
    const known = await lockEmbeddings(trx, workspaceId, sourceId);
    if (known && !anew(known)) return known;
    if (known) await removeEmbeddings(trx, workspaceId, sourceId);
    const [first] = await listPassagesAfter(trx, workspaceId, sourceId, -1, 1);
    return first && (await insertEmbeddings(trx, workspaceId, sourceId, model));
  });
}

type EmbeddedPassage = { seq: number; heading: string | null; content: string };

/** Stores the vectors of passages. Undefined, and nothing is stored, when the source, its passages or its row are others by now. */
function store(
  { db, workspaceId }: EmbeddingContext,
  { source_id: sourceId, model, embedded_to, refused }: EmbeddingsRow,
  passages: readonly EmbeddedPassage[],
  vectors: readonly (Vector | null)[],
): Promise<EmbeddingsRow | undefined> {
  return inTransaction(db, async (trx) => {
    if (!(await lockSource(trx, workspaceId, sourceId, false))) return undefined;
    const known = await lockEmbeddings(trx, workspaceId, sourceId);
    if (known?.model !== model || known.embedded_to !== embedded_to) return undefined;
    const now = await listPassagesAfter(trx, workspaceId, sourceId, embedded_to, passages.length);
    if (!isDeepStrictEqual(now, passages)) return undefined;
    const rows = passages.flatMap(({ seq }, place) => {
      const vector = vectors[place];
      return vector ? [{ seq, vector, signs: signsOf(vector) }] : [];
    });
    if (rows.length > 0) await insertVectors(trx, workspaceId, sourceId, rows);
    const change = {
      embedded_to: passages.at(-1)?.seq ?? embedded_to,
      refused: refused + passages.length - rows.length,
      dimensions: rows[0]?.vector.length ?? known.dimensions,
      failure: null,
      failed_at: null,
    };
    await updateEmbeddings(trx, { workspaceId, sourceId, model }, change);
    return { ...known, ...change };
  });
}
