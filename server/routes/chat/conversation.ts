import { createHash } from 'node:crypto';
import { isUuid } from '../../../core/ids.ts';
import { type ChatFileRow, selectChatFiles } from '../../../db/queries/channels/chatFiles.ts';
import {
  type ChatMessageRow,
  type ChatPageRow,
  findChatStanding,
  selectChatMessages,
  type VisitorKey,
} from '../../../db/queries/channels/chatPages.ts';
import type { ChatParts } from './routes.ts';

/** Messages of one answer. */
export const PAGE_OF_MESSAGES = 40;

/** A message as the page gets it. */
export interface ShownMessage {
  seq: number;
  id: string;
  role: 'user' | 'assistant';
  text: string;
  ui: Record<string, unknown> | null;
  files: ShownFile[];
  /** The id that the browser gave it. */
  sentAs: string | null;
  /** Whether a person wrote it in place of the agent. */
  isByPerson: boolean;
  /** Address of the spoken reply, relative to the service; null = none. */
  audio: string | null;
  sentAt: string;
}

/** A file of a message, as the page gets it. */
export interface ShownFile {
  id: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
}

/** How the conversation stands, as the page gets it. */
export interface ShownState {
  /** Whether there is a conversation. */
  hasBegun: boolean;
  isPaused: boolean;
  isEnded: boolean;
  /** Why the newest message gets no answer: a limit refused it, for instance for want of credits, or something failed; null = neither. */
  failure: 'limit' | 'other' | null;
  /** Whether the visitor decides on the calls that wait; else a person does. */
  mayDecide: boolean;
  /** How many calls wait. */
  waitingCalls: number;
  /** The calls, where the visitor decides. */
  approvals: { id: string; toolName: string; input: Record<string, unknown> }[];
}

/** Messages of a visitor, as the page gets them. `range`: as selectChatMessages. */
export async function readMessages(
  parts: ChatParts,
  key: VisitorKey,
  range: { after?: number; before?: number },
): Promise<ShownMessage[]> {
  const db = parts.forWorkspace(key.workspaceId);
  const rows = await selectChatMessages(db, key, { ...range, limit: PAGE_OF_MESSAGES });
  const ids = rows.flatMap((row) => row.file_ids).filter(isUuid);
  const files = ids.length > 0 ? await selectChatFiles(db, key, ids) : [];
  const byId = new Map(files.map((file) => [file.id, file]));
  return rows.map((row) => shown(row, byId));
}

function shown(row: ChatMessageRow, byId: ReadonlyMap<string, ChatFileRow>): ShownMessage {
  return {
    seq: row.seq,
    id: row.id,
    role: row.role,
    text: row.content,
    ui: row.ui,
    files: row.file_ids.flatMap((id) => fileBody(byId.get(id))),
    sentAs: row.sent_as && clientIdOf(row.sent_as),
    isByPerson: row.author === 'operator',
    audio: row.audio_key === null ? null : `/files/${row.audio_key}`,
    sentAt: row.sent_at.toISOString(),
  };
}

/** A file as the page gets it; nothing for one that is not there. */
export function fileBody(file: ChatFileRow | undefined): ShownFile[] {
  if (!file) return [];
  const { id, filename: name, media_type: mediaType, size_bytes: sizeBytes } = file;
  return [{ id, name, mediaType, sizeBytes }];
}

/**
 * The provider's id of a message, so to speak: the browser's own, made the visitor's. So the ids that one visitor chooses are never those
 * of another.
 */
export function providerIdOf(visitor: string, clientId: string): string {
  const owner = createHash('sha256').update(visitor).digest('base64url').slice(0, 22);
  return `${owner}-${clientId.toLowerCase()}`;
}

function clientIdOf(providerId: string): string {
  return providerId.slice(-36);
}

/** What a visitor learns of a failure: whether it is of use to write again. */
function failureShown(code: string | null): ShownState['failure'] {
  if (code === null) return null;
  return code === 'OPERATION_LIMIT_REACHED' || code === 'CLIENT_NOT_ACTIVE' ? 'limit' : 'other';
}

/** How a visitor's conversation stands. */
export async function readState(parts: ChatParts, page: ChatPageRow, key: VisitorKey): Promise<ShownState> {
  const standing = await findChatStanding(parts.forWorkspace(key.workspaceId), key, parts.clock.now());
  const mayDecide = page.approvals_by === 'user';
  const waiting = standing?.waiting ?? [];
  return {
    hasBegun: standing !== undefined,
    isPaused: standing?.is_paused ?? false,
    isEnded: standing?.is_ended ?? false,
    failure: failureShown(standing?.failure ?? null),
    mayDecide,
    waitingCalls: waiting.length,
    // What a person decides is not the visitor's to see.
    approvals: mayDecide ? waiting : [],
  };
}
