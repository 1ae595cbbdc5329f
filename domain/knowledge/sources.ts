import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import {
  admitKnowledgeSource,
  findKnowledgeSource,
  type KnowledgeSourceRow,
  prepareKnowledgeSource,
  softDeleteKnowledgeSource,
  updateKnowledgeSourceRow,
} from '../../db/queries/knowledge/knowledgeSources.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { SourceKind } from '../../runtime/files/fileKinds.ts';
import { sourceKey, sourceKind, UnacceptedFile } from '../../runtime/knowledge/sourceKind.ts';
import { deleteTarget } from '../agents/links/links.ts';
import type { WorkspaceContext } from '../context.ts';
import { takeRoom } from '../workspaces/room.ts';

/** Queues the work on a source: to read it into passages, or to purge a deleted one. */
export interface SourceQueue {
  send(name: 'process-knowledge-source', data: { workspaceId: string; sourceId: string }): Promise<void>;
}

/** What the rules of knowledge sources need from their caller. */
export type SourceContext = WorkspaceContext & { jobs: SourceQueue };

/** A text that agents can draw on. */
export interface NewText {
  name: string;
  description?: string | null;
  textContent: string;
}

/** An uploaded file that agents can draw on. */
export interface NewFile {
  /** Where its bytes are. */
  path: string;
  filename: string;
  sizeBytes: number;
  /** The media type that the sender declares; the bytes decide. */
  mediaType: string;
  /** undefined = the file's name. */
  name: string | undefined;
  description: string | null;
}

/** A source whose content is stored. */
export interface PreparedSource {
  id: string;
}

interface NewSource {
  name: string;
  description: string | null;
  source_type: 'TEXT_INPUT' | 'FILE_UPLOAD';
  file_kind: SourceKind;
  size_bytes: number;
}

/** Characters, as in the contract. */
const MAX_NAME = 150;
/** Longer than storing a file takes, retries included. */
const STORED_WITHIN_MS = 15 * 60_000;

/** Stores a text under a new id. It exists for the API once it is admitted. Throws RATE_LIMITED at a limit of the workspace. */
export function prepareText(
  context: SourceContext,
  { name, description = null, textContent }: NewText,
): Promise<PreparedSource> {
  const content = Buffer.from(textContent);
  // Most texts for agents are Markdown, and a text that is not reads the same.
  const file_kind = 'markdown';
  return store(
    context,
    { name, description, source_type: 'TEXT_INPUT', file_kind, size_bytes: content.length },
    content,
  );
}

/** Stores a file under a new id. It exists for the API once it is admitted. Throws UNSUPPORTED_MEDIA_TYPE, RATE_LIMITED. */
export async function prepareFile(context: SourceContext, file: NewFile): Promise<PreparedSource> {
  const { path, filename, mediaType, description } = file;
  const kind = await sourceKind(path, { filename, declared: mediaType }).catch((cause: unknown) => {
    throw cause instanceof UnacceptedFile
      ? fault('UNSUPPORTED_MEDIA_TYPE', `The file ${cause.message}`, { cause })
      : cause;
  });
  const name = file.name ?? nameOf(filename);
  const source_type = 'FILE_UPLOAD';
  return store(context, { name, description, source_type, file_kind: kind, size_bytes: file.sizeBytes }, { path });
}

async function store(
  { db, workspaceId, runtime, jobs, clock }: SourceContext,
  source: NewSource,
  content: { path: string } | Uint8Array,
): Promise<PreparedSource> {
  const id = newId();
  const now = clock.now();
  const row = { workspace_id: workspaceId, id, ...source, created_at: now, updated_at: now };
  await inTransaction(db, async (trx) => {
    await takeRoom(trx, workspaceId, 'knowledge_source', { bytes: source.size_bytes, now });
    await prepareKnowledgeSource(trx, row, new Date(now.getTime() + STORED_WITHIN_MS));
  });
  try {
    await runtime.files.put(sourceKey(workspaceId, id), content);
    return { id };
  } catch (error) {
    // The job purges what there is.
    await jobs.send('process-knowledge-source', { workspaceId, sourceId: id });
    throw error;
  }
}

/** Makes a stored source exist, and has it processed: it can be searched then. */
export async function admitSource(
  { db, workspaceId, jobs }: Pick<SourceContext, 'db' | 'workspaceId' | 'jobs'>,
  { id }: PreparedSource,
): Promise<KnowledgeSourceRow> {
  try {
    return await admitKnowledgeSource(db, workspaceId, id);
  } finally {
    // Processes the source; after a failure the same job purges it.
    await jobs.send('process-knowledge-source', { workspaceId, sourceId: id });
  }
}

/** The file's name, cut to the length that a name may have. */
function nameOf(filename: string): string {
  return Array.from(filename.trim()).slice(0, MAX_NAME).join('').trim() || 'Unnamed file';
}

/** Changes a source; absent = unchanged. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export async function changeSource(
  { db, workspaceId, clock }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>,
  sourceId: string,
  { name, description }: { name?: string; description?: string | null },
): Promise<KnowledgeSourceRow> {
  const changes = name !== undefined || description !== undefined;
  const row = changes
    ? await updateKnowledgeSourceRow(db, workspaceId, sourceId, { name, description, updated_at: clock.now() })
    : await findKnowledgeSource(db, workspaceId, sourceId);
  if (!row) throw fault('KNOWLEDGE_SOURCE_NOT_FOUND');
  return row;
}

/** Deletes a source and its links; its passages and its file are purged in the background. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export async function dropSource(context: SourceContext, sourceId: string): Promise<void> {
  const { workspaceId, jobs } = context;
  const deleted = await deleteTarget(context, 'knowledge_source', sourceId, ({ trx, now }) =>
    softDeleteKnowledgeSource(trx, workspaceId, sourceId, now),
  );
  if (!deleted) throw fault('KNOWLEDGE_SOURCE_NOT_FOUND');
  await jobs.send('process-knowledge-source', { workspaceId, sourceId });
}
