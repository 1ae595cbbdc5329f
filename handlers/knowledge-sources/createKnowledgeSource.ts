import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import {
  admitKnowledgeSource,
  type KnowledgeSourceRow,
  prepareKnowledgeSource,
} from '../../db/queries/knowledge/knowledgeSources.ts';
import type { SourceKind } from '../../runtime/files/fileKinds.ts';
import { NotAccepted, sourceKey, sourceKind } from '../../runtime/knowledge/sourceKind.ts';
import type { BodyOf, Handler, Upload } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

type Id = 'createKnowledgeSource';

const NAME_CHARS = 150;
/** Longer than storing a file takes, tries included. */
const STORED_WITHIN_MS = 15 * 60_000;

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
  const now = clock.now();
  const source = { workspace_id: workspaceId, id, ...row, created_at: now, updated_at: now };
  await prepareKnowledgeSource(db, source, new Date(now.getTime() + STORED_WITHIN_MS));
  let stored: KnowledgeSourceRow;
  try {
    await runtime.files.put(sourceKey(workspaceId, id), content);
    stored = await admitKnowledgeSource(db, workspaceId, id);
  } finally {
    // Processes it, or purges what there is of it.
    await jobs.send('process-knowledge-source', { workspaceId, sourceId: id });
  }
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
