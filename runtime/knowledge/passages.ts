import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Kysely, Transaction } from 'kysely';
import type { Logger } from 'pino';
import { toStorable } from '../../core/text.ts';
import {
  countWords,
  insertEmbeddings,
  insertPassages,
  insertVectors,
  listPassages,
  lockSource,
  type PassageRow,
  removeEmbeddings,
  removePassages,
  withoutAccents,
} from '../../db/queries/knowledge/knowledgePassages.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { ModelSettings } from '../models/settings.ts';
import type { Runtime } from '../runtime.ts';
import { embeddingModelKey, embedTexts, signsOf, type Vector } from './embeddings.ts';
import { mayHaveAccents, shapeOf, termsOf, tsvectorOf } from './terms.ts';

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
  /** Logs failed calls of the embedding model. The work continues without vectors. */
  logger?: Pick<Logger, 'warn'> | undefined;
}

/** Rows of one statement. */
const PASSAGES_AT_ONCE = 500;
const VECTORS_AT_ONCE = 100;
/** Passages that are split into words before the event loop gets a turn: some milliseconds. */
const CUT_AT_ONCE = 25;

/**
 * Replaces all passages of a source and their index entries in one transaction. Fetches their vectors first where a model for
 * embeddings is configured. If that fails, stores them without vectors, and `embedStoredPassages` can add these later. Stores nothing
 * for a source that is deleted. An empty list removes all passages. Throws the signal's reason when it aborts.
 */
export async function replacePassages(
  context: KnowledgeContext & { signal?: AbortSignal | undefined },
  sourceId: string,
  passages: readonly Passage[],
): Promise<void> {
  const { db, workspaceId, runtime, signal } = context;
  const { rows, counts } = await index(db, passages);
  const vectors = await vectorsOf(context, sourceId, rows);
  signal?.throwIfAborted();
  await inTransaction(db, async (trx) => {
    if (!(await lockSource(trx, workspaceId, sourceId, rows.length === 0))) return;
    const changes = new Map(counts);
    for (const [word, gone] of await removePassages(trx, workspaceId, sourceId)) {
      changes.set(word, (changes.get(word) ?? 0) - gone);
    }
    for (const some of chunks(rows, PASSAGES_AT_ONCE)) await insertPassages(trx, workspaceId, sourceId, some);
    if (vectors) await storeVectors(trx, { workspaceId, sourceId, models: runtime.models }, rows, vectors);
    await countWords(trx, workspaceId, changes, shapeOf);
  });
}

/**
 * Adds vectors of the configured model to the stored passages of a source that has none. Returns false when the source was deleted
 * or its passages were replaced meanwhile. Throws MODEL_PROVIDER_ERROR.
 */
export async function embedStoredPassages(
  { db, workspaceId, runtime, signal }: KnowledgeContext & { signal?: AbortSignal | undefined },
  sourceId: string,
): Promise<boolean> {
  const passages = await listPassages(db, workspaceId, sourceId);
  if (passages.length === 0) return false;
  const vectors = await embedTexts(runtime.models, passages.map(embeddedText), { signal });
  return await inTransaction(db, async (trx) => {
    if (!(await lockSource(trx, workspaceId, sourceId, false))) return false;
    const now = await listPassages(trx, workspaceId, sourceId);
    if (!isDeepStrictEqual(now, passages)) return false;
    await removeEmbeddings(trx, workspaceId, sourceId);
    await storeVectors(trx, { workspaceId, sourceId, models: runtime.models }, passages, vectors);
    return true;
  });
}

/** Returns the rows of passages, and the number of passages for each word. The empty word counts all passages. */
async function index(db: Kysely<DB>, passages: readonly Passage[]) {
  const rows: PassageRow[] = [];
  const counts = new Map<string, number>();
  const plain = new Map<string, string>();
  for (const some of chunks(passages, PASSAGES_AT_ONCE)) {
    const cut = [];
    for (const [place, passage] of some.entries()) {
      if (place % CUT_AT_ONCE === 0) await yieldToEvents();
      const [heading, content] = [passage.heading && toStorable(passage.heading), toStorable(passage.content)];
      const terms = { heading: termsOf(heading ?? ''), content: termsOf(content) };
      cut.push({ ...passage, heading, content, terms });
    }
    const unknown = new Set<string>();
    for (const { terms } of cut) {
      for (const { word } of [...terms.heading, ...terms.content]) {
        if (mayHaveAccents(word) && !plain.has(word)) unknown.add(word);
      }
    }
    for (const word of unknown) plain.set(word, word);
    for (const [word, without] of await withoutAccents(db, [...unknown])) plain.set(word, without);
    for (const { terms, seq, heading, page, content } of cut) {
      const { text, words } = tsvectorOf(terms.heading, terms.content, plain);
      for (const word of ['', ...words]) counts.set(word, (counts.get(word) ?? 0) + 1);
      rows.push({ seq, heading, page, content, words: text });
    }
  }
  return { rows, counts };
}

/** The meaning of a passage depends on its headings. */
function embeddedText({ heading, content }: Pick<Passage, 'heading' | 'content'>): string {
  return heading === null ? content : `${heading}\n${content}`;
}

async function vectorsOf(
  { runtime, logger, signal }: KnowledgeContext & { signal?: AbortSignal | undefined },
  sourceId: string,
  rows: readonly PassageRow[],
): Promise<Vector[] | undefined> {
  if (!runtime.models.embeddings || rows.length === 0) return undefined;
  try {
    return await embedTexts(runtime.models, rows.map(embeddedText), { signal });
  } catch (error) {
    signal?.throwIfAborted();
    logger?.warn({ err: error, sourceId }, 'knowledge source is stored without vectors');
    return undefined;
  }
}

async function storeVectors(
  trx: Transaction<DB>,
  { workspaceId, sourceId, models }: { workspaceId: string; sourceId: string; models: ModelSettings },
  passages: readonly { seq: number }[],
  vectors: readonly Vector[],
): Promise<void> {
  if (!models.embeddings || !vectors[0]) return;
  const [model, dimensions] = [embeddingModelKey(models.embeddings), vectors[0].length];
  await insertEmbeddings(trx, { workspace_id: workspaceId, source_id: sourceId, model, dimensions });
  const rows = passages.map(({ seq }, place) => ({ seq, vector: vectors[place] ?? [] }));
  for (const some of chunks(rows, VECTORS_AT_ONCE)) {
    const signed = some.map((row) => ({ ...row, signs: signsOf(row.vector) }));
    await insertVectors(trx, workspaceId, sourceId, signed);
  }
}

function* chunks<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}
