import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import type { AnsweredMessage } from '../../db/queries/turns/deadTurns.ts';
import type { StoredAttachment } from '../../db/stored/attachment.ts';
import type { StoredTurnRequest } from '../../db/stored/turnRequest.ts';
import {
  MAX_TOTAL_BYTES,
  type ResolvedAttachment,
  resolveAttachments,
  resolveFile,
  withAttachmentNotes,
} from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import type { ReadMessage } from './readMessage.ts';

const LOST = '[These files came with the message, and cannot be read any more: the service was interrupted meanwhile.]';

/** For whom the files are read. */
interface Reader {
  model: ModelDescriptor;
  signal: AbortSignal;
  /** Files that stood in the request itself, as they are stored with the turn. */
  files: StoredTurnRequest['files'];
}

/**
 * Reads what a turn answers from what an earlier attempt at it stored. Files that came over a channel are in the file store, those of a request
 * are stored with the turn, and files with an address are fetched again. Of what cannot be had the text says that it is lost. Recordings have been
 * transcribed. Throws the signal's reason.
 */
export async function readAgain(
  context: WorkspaceRuntime,
  messages: readonly AnsweredMessage[],
  reader: Reader,
): Promise<ReadMessage> {
  const texts: string[] = [];
  const attachments: ResolvedAttachment[] = [];
  let room = MAX_TOTAL_BYTES;
  for (const { content, model_text, attachments: stored, files } of messages) {
    if ((model_text ?? content) !== '') texts.push(model_text ?? content);
    const lost = [];
    for (const attachment of stored.filter(({ transcript }) => transcript === undefined)) {
      const key = files?.find(({ filename }) => filename === attachment.filename)?.key;
      const found = await readFileAgain(context, { ...attachment, key }, reader).catch(() => undefined);
      reader.signal.throwIfAborted();
      if (found && found.bytes.length <= room) {
        room -= found.bytes.length;
        attachments.push(found);
      } else lost.push(attachment);
    }
    if (lost.length > 0) texts.push(`${withAttachmentNotes('', lost)}\n${LOST}`);
  }
  return { text: texts.join('\n\n'), attachments, stored: null };
}

async function readFileAgain(
  { runtime, workspaceId }: WorkspaceRuntime,
  { key, url, sha256, ...named }: StoredAttachment & { key: string | undefined },
  { model, signal, files }: Reader,
): Promise<ResolvedAttachment | undefined> {
  if (key === undefined) {
    if (url === undefined) {
      const inline = files?.find((file) => file.sha256 === sha256);
      return inline && (await resolveFile(Buffer.from(inline.base64, 'base64'), named, { model, listens: false }));
    }
    const { allowPrivateNetwork } = runtime;
    const options = { model, listens: false, allowPrivateNetwork, workspaceId, signal };
    const [found] = await resolveAttachments([{ url, ...named }], options);
    return found;
  }
  const folder = await makeTemporaryFolder(runtime.temporaryDir);
  try {
    const path = join(folder, 'file');
    await runtime.files.fetch(key, path);
    return await resolveFile(await readFile(path), named, { model, listens: false });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
