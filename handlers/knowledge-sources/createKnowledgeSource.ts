import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { insertKnowledgeSource } from '../../db/queries/knowledgeSources.ts';
import { NotAccepted, type SourceKind, sourceKey, sourceKind } from '../../runtime/knowledge/kinds.ts';
import type { BodyOf, Handler, Upload } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

type Id = 'createKnowledgeSource';

const NAME_CHARS = 150;

/** A source as it comes: its row, and where its content is. */
interface NewSource {
  row: {
    name: string;
    description: string | null;
    source_type: 'TEXT_INPUT' | 'FILE_UPLOAD';
    file_kind: SourceKind;
    size_bytes: number;
  };
  content: { path: string } | Uint8Array;
}

/** Add a knowledge source. Throws UNSUPPORTED_MEDIA_TYPE. */
export const createKnowledgeSource: Handler<Id> = async ({ body, upload, ...context }) => {
  const { db, workspaceId, runtime, jobs, clock, reply } = context;
  if (!body && !upload) throw new Error('createKnowledgeSource got neither a body nor a form');
  const { row, content } = upload ? await fromFile(upload) : fromText(body as NonNullable<BodyOf<Id>>);
  const id = newId();
  const key = sourceKey(workspaceId, id);
  // The content first: a row that is there can always be processed.
  await runtime.files.put(key, content);
  const now = clock.now();
  const stored = await insertKnowledgeSource(db, {
    ...{ workspace_id: workspaceId, id, ...row },
    ...{ created_at: now, updated_at: now },
  }).catch(async (error: unknown) => {
    await runtime.files.delete(key);
    throw error;
  });
  await jobs.send('process-knowledge-source', { workspaceId, sourceId: id });
  return reply(201, sourceBody(stored));
};

function fromText({ name, description, textContent }: NonNullable<BodyOf<Id>>): NewSource {
  const content = Buffer.from(textContent);
  return {
    row: {
      name,
      description: description ?? null,
      source_type: 'TEXT_INPUT',
      // Texts for agents are mostly written in it, and one that isn't reads the same.
      file_kind: 'markdown',
      size_bytes: content.length,
    },
    content,
  };
}

async function fromFile({ file, fields: { metadata } }: Upload<Id>): Promise<NewSource> {
  const kind = await sourceKind(file.path, { filename: file.name, declared: file.mediaType }).catch(
    (cause: unknown) => {
      throw cause instanceof NotAccepted
        ? fault('UNSUPPORTED_MEDIA_TYPE', `The file ${cause.message}`, { cause })
        : cause;
    },
  );
  return {
    row: {
      name: metadata?.name ?? nameOf(file.name),
      description: metadata?.description ?? null,
      source_type: 'FILE_UPLOAD',
      file_kind: kind,
      size_bytes: file.sizeBytes,
    },
    content: { path: file.path },
  };
}

/** The file's name, cut to what a name may have. */
function nameOf(filename: string): string {
  return Array.from(filename.trim()).slice(0, NAME_CHARS).join('').trim() || 'Unnamed file';
}
