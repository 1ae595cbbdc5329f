import { setImmediate as breathe } from 'node:timers/promises';
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

/** A piece of a source, found and shown as one. */
export interface Passage {
  /** Its place in the source, from 0. */
  seq: number;
  /** The headings that it stands under. */
  heading: string | null;
  page: number | null;
  content: string;
}

/** What the index and its search stand on. */
export interface KnowledgeContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Pick<Runtime, 'models'>;
  /** Hears of vectors that could not be had: work goes on without them. */
  logger?: Pick<Logger, 'warn'> | undefined;
}

/** Rows of one statement. */
const PASSAGES_AT_ONCE = 500;
const VECTORS_AT_ONCE = 100;
/** Passages whose words are cut before other work of the process has its turn: some milliseconds. */
const CUT_AT_ONCE = 25;

/**
 * Replaces all passages of a source, in one transaction, with what finds them. Where a model for embeddings is configured their
 * vectors are fetched before; if that fails they are stored without, and `embedStoredPassages` can add vectors later. Of a source
 * that is gone or deleted nothing is stored; an empty list removes what there is in any case. Throws the signal's reason when the
 * work is given up.
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
 * Gives the stored passages of a source vectors of the configured model, for a source that has none of it. Answers whether it has
 * them now: false when it was deleted or its passages were replaced meanwhile. Throws MODEL_PROVIDER_ERROR.
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

/** The rows of passages, and how many of them have each word; the empty word counts all. */
async function index(db: Kysely<DB>, passages: readonly Passage[]) {
  const rows: PassageRow[] = [];
  const counts = new Map<string, number>();
  const plain = new Map<string, string>();
  for (const some of chunks(passages, PASSAGES_AT_ONCE)) {
    const cut = [];
    for (const [place, passage] of some.entries()) {
      if (place % CUT_AT_ONCE === 0) await breathe();
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

/** What a passage means depends on what it stands under. */
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
