import { type EmbeddingProgress, selectEmbeddingProgress } from '../../db/queries/knowledge/knowledgeEmbeddings.ts';
import {
  findKnowledgeSource,
  type KnowledgeSourceRow,
  selectKnowledgeSources,
} from '../../db/queries/knowledge/knowledgeSources.ts';
import { type Command, CommandError, number, table, uuid } from './command.ts';
import { printable } from './printable.ts';

/** Sources that `list` prints at most. */
const [MAX_LISTED, DEFAULT_LISTED] = [1_000, 100];

function shown(row: KnowledgeSourceRow, progress: EmbeddingProgress | undefined) {
  return {
    knowledgeSourcePublicId: row.id,
    name: row.name,
    processingStatus: row.processing_status,
    errorMessage: row.error_message,
    createdAt: row.created_at,
    lastProcessedAt: row.last_processed_at,
    passages: progress?.passages ?? 0,
    vectors: progress?.vectors ?? 0,
    refusedByModel: progress?.refused ?? 0,
    embeddingModel: progress?.model ?? null,
    embeddedAt: progress?.completedAt ?? null,
    embeddingFailedAt: progress?.failedAt ?? null,
    embeddingFailure: progress?.failure ?? null,
  };
}

type Shown = ReturnType<typeof shown>;

/** How far the vectors of a source are, in a few words. */
function vectorsOf({ passages, vectors, refusedByModel, embeddingModel, embeddedAt, embeddingFailure }: Shown): string {
  if (embeddingModel === null) return 'none';
  const refused = refusedByModel > 0 ? `, ${refusedByModel} refused` : '';
  const state = embeddedAt !== null ? '' : embeddingFailure !== null ? ', failed' : ', under way';
  return `${vectors} of ${passages}${refused}${state}`;
}

/** Knowledge sources of a workspace, and how far they are on their way into the search. */
export const knowledgeSourceCommands: Record<string, Command> = {
  list: {
    usage: '--workspace ID [--limit N]   (newest first, with passages and vectors)',
    words: 0,
    options: { workspace: { type: 'string' }, limit: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const bounds = { min: 1, max: MAX_LISTED, integer: true };
      const limit = number(options.limit, '--limit', bounds) ?? DEFAULT_LISTED;
      return async (database) => {
        const db = database.forWorkspace(workspaceId);
        const filter = { status: undefined, search: undefined };
        const { rows: found, total } = await selectKnowledgeSources(db, workspaceId, filter, { offset: 0, limit });
        const ids = found.map(({ id }) => id);
        const progress = new Map(
          (await selectEmbeddingProgress(db, workspaceId, ids)).map((one) => [one.sourceId, one]),
        );
        const sources = found.map((row) => shown(row, progress.get(row.id)));
        const rows = sources.map((one) => [
          one.knowledgeSourcePublicId,
          printable(one.name),
          one.processingStatus,
          String(one.passages),
          vectorsOf(one),
        ]);
        const rest = total > found.length ? `\n${total - found.length} more: --limit` : '';
        return {
          json: sources,
          text: table(['ID', 'NAME', 'STATUS', 'PASSAGES', 'VECTORS'], rows) + rest,
        };
      };
    },
  },
  show: {
    usage: '--workspace ID SOURCEID',
    words: 1,
    options: { workspace: { type: 'string' } },
    prepare([word], options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const id = uuid(word, 'SOURCEID');
      return async (database) => {
        const db = database.forWorkspace(workspaceId);
        const row = await findKnowledgeSource(db, workspaceId, id);
        if (!row) throw new CommandError(`Workspace ${workspaceId} has no knowledge source ${id}`);
        const [progress] = await selectEmbeddingProgress(db, workspaceId, [id]);
        const source = shown(row, progress);
        const lines = Object.entries(source).map(([name, value]) => [
          name,
          value instanceof Date ? value.toISOString() : printable(String(value ?? '')),
        ]);
        return { json: source, text: table(['', ''], lines).trimStart() };
      };
    },
  },
};
