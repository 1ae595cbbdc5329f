import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../../../core/ids.ts';
import { makeTemporaryFolder } from '../../../core/temporary.ts';
import { findChatFile } from '../../../db/queries/channels/chatFiles.ts';
import { FileMissing } from '../../../integrations/storage/storage.ts';
import type { WorkspaceContext } from '../../context.ts';

/** Where the bytes of a visitor's file are in the file store. */
export function chatFileKey(workspaceId: string, id: string): string {
  return `${workspaceId}/chat/${id}`;
}

/** A file that a visitor sent, as a provider of another channel would hand it out. */
export interface ChatFileContent {
  bytes: Buffer;
  mediaType: string;
  filename: string;
}

/** Reads a file that a message of the chat page has: `reference` of its InboundMedia is the file's id. Throws FileMissing. */
export async function readChatFile(
  { db, workspaceId, runtime }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'runtime'>,
  connectionId: string,
  reference: string,
): Promise<ChatFileContent> {
  const row = isUuid(reference) ? await findChatFile(db, workspaceId, connectionId, reference) : undefined;
  if (!row) throw new FileMissing(`There is no file ${reference}.`);
  const folder = await makeTemporaryFolder(runtime.temporaryDir);
  try {
    const path = join(folder, 'file');
    await runtime.files.fetch(chatFileKey(workspaceId, row.id), path);
    return { bytes: await readFile(path), mediaType: row.media_type, filename: row.filename };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
