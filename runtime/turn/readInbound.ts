import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, fault } from '../../core/errors.ts';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import type { InboundAnswered } from '../../db/queries/turns/turnStart.ts';
import type { StoredInboundFile } from '../../db/stored/inboundFile.ts';
import { transcribeAttachments } from '../audio/transcribe.ts';
import {
  MAX_ATTACHMENTS,
  MAX_TOTAL_BYTES,
  type ResolvedAttachment,
  resolveFile,
  toStored,
} from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { Runtime } from '../runtime.ts';
import type { ReadMessage } from './readMessage.ts';
import { countTurn } from './takeConversation.ts';
import type { InboundMessage, InboundTurn, Turn } from './types.ts';

/** Codes of failures that are the turn's, and not those of a file. */
const OF_THE_TURN: ReadonlySet<string> = new Set(['OPERATION_LIMIT_REACHED', 'UNAVAILABLE']);

/** For whom the files are read. */
interface Reader {
  model: ModelDescriptor | undefined;
  listens: boolean;
}

/** What is left of the files that one turn can give to its model. */
interface Room {
  files: number;
  bytes: number;
}

/**
 * Reads the messages of a person together, as one. A file that cannot be read, or that the model or the agent does not take, is noted in
 * the text: it must not keep the message from being answered. Throws OPERATION_LIMIT_REACHED, or the reason of the turn's signal.
 */
export async function readInbound(turn: Turn, { messages }: InboundTurn, reader: Reader): Promise<ReadMessage> {
  const room = { files: MAX_ATTACHMENTS, bytes: MAX_TOTAL_BYTES };
  const texts: string[] = [];
  const attachments: ResolvedAttachment[] = [];
  const inbound: InboundAnswered[] = [];
  for (const message of messages) {
    const read = await readOne(turn, message, { ...reader, room });
    if (read.text !== '') texts.push(read.text);
    attachments.push(...read.attachments);
    inbound.push(read.stored);
  }
  const last = messages.at(-1);
  if (!last) throw new Error('A turn answers at least one message.');
  const stored = { id: last.id, isStored: true, content: last.content, modelText: null, attachments: [], snippet: '' };
  const command = turn.command?.text;
  return { text: command ?? texts.join('\n\n'), attachments, stored: { ...stored, inbound } };
}

async function readOne(
  turn: Turn,
  { id, content, modelText, files }: InboundMessage,
  { model, listens, room }: Reader & { room: Room },
): Promise<{ text: string; attachments: ResolvedAttachment[]; stored: InboundAnswered }> {
  const { runtime, controller } = turn;
  const parts = [turn.command?.text ?? modelText ?? content];
  const attachments: ResolvedAttachment[] = [];
  const stored: InboundAnswered['attachments'] = [];
  for (const file of files) {
    try {
      const resolved = await read(runtime, file, { model, listens, room });
      if (resolved.kind === 'audio') {
        // A transcription costs money: a message that the limit refuses must not cause one.
        await countTurn(turn);
        const heard = await transcribeAttachments(runtime.models, [resolved], { model, signal: controller.signal });
        parts.push(heard.text ?? '');
        stored.push(...heard.stored);
      } else {
        attachments.push(resolved);
        stored.push(...toStored([resolved]));
      }
    } catch (error) {
      controller.signal.throwIfAborted();
      if (error instanceof ApiError && OF_THE_TURN.has(error.code)) throw error;
      parts.push(unreadNote(file, error));
    }
  }
  const text = parts.filter((part) => part !== '').join('\n\n');
  return { text, attachments, stored: { id, modelText: text === content ? null : text, attachments: stored } };
}

async function read(
  runtime: Runtime,
  { key, mediaType, filename }: StoredInboundFile,
  { model, listens, room }: Reader & { room: Room },
): Promise<ResolvedAttachment> {
  if (room.files === 0)
    throw fault('UNSUPPORTED_ATTACHMENT', `It came with too many others (${MAX_ATTACHMENTS} are read).`);
  const folder = await makeTemporaryFolder(runtime.temporaryDir);
  try {
    const path = join(folder, 'file');
    await runtime.files.fetch(key, path);
    const bytes = await readFile(path);
    if (bytes.length > room.bytes)
      throw fault('ATTACHMENT_TOO_LARGE', 'It is too large, with the others that came with it.');
    const known = model ?? { name: 'unknown', supportsImage: true, supportsDocument: true };
    const resolved = await resolveFile(bytes, { filename, mediaType }, { model: known, listens });
    room.files -= 1;
    room.bytes -= bytes.length;
    return resolved;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the model reads in place of a file. The texts of other errors than ours are not for it. */
export function unreadNote(file: Pick<StoredInboundFile, 'filename' | 'mediaType'>, error: unknown): string {
  const why = error instanceof ApiError ? ` ${error.message}` : '';
  return `[The person sent ${file.filename} (${file.mediaType}), which could not be read.${why}]`;
}
