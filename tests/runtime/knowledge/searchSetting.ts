import { systemClock } from '../../../core/clock.ts';
import { newId } from '../../../core/ids.ts';
import { type EmbeddingRun, embedSource } from '../../../runtime/knowledge/embedSource.ts';
import { type KnowledgeContext, type Passage, replacePassages } from '../../../runtime/knowledge/passages.ts';
import { type KnowledgeHit, searchKnowledge } from '../../../runtime/knowledge/search.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';

/** What a warning said. */
export interface Warning {
  err: Error;
  message: string;
}

/** A workspace as the index and its search see it, with the warnings that they gave. */
export interface Shelf extends KnowledgeContext {
  warnings: Warning[];
  /** Adds a source; a passage is its content, or more. */
  add(passages: readonly (string | Partial<Passage>)[], row?: Partial<SourceRow>): Promise<string>;
  /** Contents of the passages that are found, best first. */
  find(query: string, sourceIds: readonly string[], limit?: number): Promise<string[]>;
  search(query: string, sourceIds: readonly string[], limit?: number): Promise<KnowledgeHit[]>;
  /** Whether a part of the search fails. */
  isIncomplete(query: string, sourceIds: readonly string[]): Promise<boolean>;
}

interface SourceRow {
  name: string;
  processing_status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED';
  error_message: string | null;
  deleted_at: Date | null;
}

/** Passages in their order. */
export function passagesOf(contents: readonly (string | Partial<Passage>)[]): Passage[] {
  return contents.map((one, seq) => {
    const more = typeof one === 'string' ? { content: one } : one;
    return { seq, heading: null, page: null, content: '', ...more };
  });
}

/** The workspace's shelf of sources. */
export function shelfOf({ db, workspaceId }: SeededWorkspace, models: ModelSettings = { retries: 0 }): Shelf {
  const warnings: Warning[] = [];
  const logger = {
    warn: (fields: { err: Error }, message: string) => void warnings.push({ err: fields.err, message }),
  };
  const context: KnowledgeContext = {
    db,
    workspaceId,
    runtime: { models },
    logger: logger as NonNullable<KnowledgeContext['logger']>,
  };
  const search: Shelf['search'] = async (query, sourceIds, limit = 10) =>
    (await searchKnowledge(context, { query, sourceIds, limit })).hits;
  return {
    ...context,
    warnings,
    search,
    isIncomplete: async (query, sourceIds) =>
      (await searchKnowledge(context, { query, sourceIds, limit: 10 })).isIncomplete,
    find: async (query, sourceIds, limit) => (await search(query, sourceIds, limit)).map(({ content }) => content),
    async add(contents, row = {}) {
      const id = newId();
      await db
        .insertInto('knowledge_sources')
        .values({
          workspace_id: workspaceId,
          id,
          name: 'Handbook',
          source_type: 'TEXT_INPUT',
          file_kind: 'text',
          size_bytes: 1,
          processing_status: 'COMPLETED',
          last_processed_at: new Date(),
          ...row,
          deleted_at: null,
        })
        .execute();
      await replacePassages(context, id, passagesOf(contents));
      await embedAll(context, id).catch((err: Error) => logger.warn({ err }, 'knowledge source has no vectors'));
      if (row.deleted_at) await db.updateTable('knowledge_sources').set(row).where('id', '=', id).execute();
      return id;
    },
  };
}

/** Gives all passages of a source their vectors, as the job does slice by slice. */
export async function embedAll(
  { db, workspaceId, runtime }: KnowledgeContext,
  sourceId: string,
): Promise<EmbeddingRun> {
  const context = { db, workspaceId, runtime: { ...runtime, clock: systemClock } };
  let run = await embedSource(context, sourceId);
  while (run === 'more') run = await embedSource(context, sourceId);
  return run;
}

/** How many vectors a source has. */
export async function countVectors({ db }: Shelf, sourceId: string): Promise<number> {
  const { vectors } = await db
    .selectFrom('knowledge_vectors')
    .select(({ fn }) => fn.countAll<number>().as('vectors'))
    .where('source_id', '=', sourceId)
    .executeTakeFirstOrThrow();
  return vectors;
}
