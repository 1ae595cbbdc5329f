import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Request, Response } from 'express';
import { fault } from '../../../core/errors.ts';
import { isUuid, newId } from '../../../core/ids.ts';
import { makeTemporaryFolder } from '../../../core/temporary.ts';
import {
  type ChatFileRow,
  findUnsentBytes,
  insertChatFile,
  selectChatFiles,
} from '../../../db/queries/channels/chatFiles.ts';
import type { VisitorKey } from '../../../db/queries/channels/chatPages.ts';
import { chatFileKey } from '../../../domain/channels/webChat/files.ts';
import { attachmentKind } from '../../../runtime/files/attachmentKind.ts';
import { readForm } from '../../api/upload.ts';
import { tooMany } from './limits.ts';
import type { ChatParts } from './routes.ts';

/** Bytes of a file. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Bytes of the files that one visitor has uploaded and not sent. */
const MAX_UNSENT_BYTES = 60 * 1024 * 1024;
/** Files that this process receives at a time: each is held in memory to be looked at. */
const MAX_AT_ONCE = 8;
const BUSY_SECONDS = 5;

let receiving = 0;

/** Receives a file of a visitor: of the kinds that messages may have, told by its bytes. Throws what `readForm` throws, and UNSUPPORTED_ATTACHMENT. */
export async function receiveFile(parts: ChatParts, key: VisitorKey, request: Request): Promise<ChatFileRow> {
  if (receiving >= MAX_AT_ONCE) throw tooMany(BUSY_SECONDS);
  receiving += 1;
  try {
    const shape = { maxBytes: MAX_FILE_BYTES, parts: new Map() };
    const form = await readForm(request, shape, { dir: parts.uploadDir });
    try {
      if (!form.file) throw fault('VALIDATION_ERROR', 'The form has no file.');
      return await store(parts, key, form.file);
    } finally {
      await form.discard();
    }
  } finally {
    receiving -= 1;
  }
}

async function store(
  parts: ChatParts,
  key: VisitorKey,
  file: { path: string; name: string; sizeBytes: number; mediaType: string },
): Promise<ChatFileRow> {
  const { workspaceId, connectionId, visitor } = key;
  const db = parts.forWorkspace(workspaceId);
  if (file.sizeBytes === 0) throw fault('UNSUPPORTED_ATTACHMENT', 'The file is empty.');
  if ((await findUnsentBytes(db, key)) + file.sizeBytes > MAX_UNSENT_BYTES) throw tooMany(BUSY_SECONDS);
  const bytes = await readFile(file.path);
  const kind = await attachmentKind(bytes, { served: file.mediaType, filename: file.name });
  if (typeof kind === 'string') throw fault('UNSUPPORTED_ATTACHMENT', `The file ${kind}`);
  const row: ChatFileRow = {
    workspace_id: workspaceId,
    id: newId(),
    connection_id: connectionId,
    visitor,
    filename: file.name,
    media_type: kind.mediaType,
    size_bytes: file.sizeBytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    is_sent: false,
    created_at: parts.clock.now(),
  };
  // The row first: bytes without a row would never be removed.
  await insertChatFile(db, row);
  await parts.runtime.files.put(chatFileKey(workspaceId, row.id), { path: file.path });
  return row;
}

/** The visitor's files among these ids, in their order. Throws NOT_FOUND when one of them is not the visitor's. */
export async function filesOf(parts: ChatParts, key: VisitorKey, ids: readonly string[]): Promise<ChatFileRow[]> {
  const rows = ids.every(isUuid) ? await selectChatFiles(parts.forWorkspace(key.workspaceId), key, ids) : [];
  return ids.map((id) => {
    const row = rows.find((each) => each.id === id.toLowerCase());
    if (!row) throw fault('NOT_FOUND', 'There is no such file.');
    return row;
  });
}

/** Sends a file of a visitor. Pictures may be shown; everything else is for saving. */
export async function sendFile(parts: ChatParts, file: ChatFileRow, response: Response): Promise<void> {
  const folder = await makeTemporaryFolder(parts.uploadDir);
  try {
    await parts.runtime.files.fetch(chatFileKey(file.workspace_id, file.id), join(folder, 'file'));
    const way = file.media_type.startsWith('image/') ? 'inline' : 'attachment';
    response.setHeader('Content-Type', file.media_type);
    response.setHeader('Content-Disposition', `${way}; filename*=UTF-8''${encodeURIComponent(file.filename)}`);
    response.setHeader('Content-Security-Policy', "sandbox; default-src 'none'");
    response.setHeader('Cache-Control', 'private, max-age=3600');
    await new Promise<void>((resolve, reject) => {
      const options = {
        root: folder,
        cacheControl: false,
        etag: false,
        lastModified: false,
        dotfiles: 'allow' as const,
      };
      response.sendFile('file', options, (error) => (error && !response.headersSent ? reject(error) : resolve()));
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
