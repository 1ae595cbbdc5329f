import { newId } from '../../core/ids.ts';
import type { UserMessage } from '../../db/queries/turns/turnStart.ts';
import type { StoredAttachment } from '../../db/stored/attachment.ts';
import type { AgentScope } from '../agent/tool.ts';
import { transcribeAttachments } from '../audio/transcribe.ts';
import { type ResolvedAttachment, resolveAttachments, toStored } from '../files/attachments.ts';
import { readInbound } from './readInbound.ts';
import { snippetOf } from './snippet.ts';
import { countTurn, isTimeout, storeTimedOut } from './takeConversation.ts';
import type { Turn } from './types.ts';

/**
 * What a turn answers. `text` is what the model reads; `stored` is the message as it is stored, null for turns without one.
 */
export interface ReadMessage {
  text: string;
  attachments: ResolvedAttachment[];
  stored: UserMessage | null;
}

/**
 * Reads what the turn answers: fetches its attachments, transcribes recordings and expands its slash command. Throws ATTACHMENT_TOO_LARGE, UNSUPPORTED_ATTACHMENT,
 * VALIDATION_ERROR, OPERATION_LIMIT_REACHED, MODEL_PROVIDER_ERROR, or the reason of the turn's signal. When the time runs out, the
 * user's message is stored without its attachments.
 */
export async function readMessage(turn: Turn, { resources: { model }, snapshot }: AgentScope): Promise<ReadMessage> {
  const { kind, request, command, runtime, controller } = turn;
  const { signal } = controller;
  const { content } = request;
  const { prepared } = request;
  const storedId = prepared?.isStored ? prepared.messageId : request.keyed?.claim.begun?.messageId;
  if (kind !== 'message') return { text: content, attachments: [], stored: null };
  if (request.inbound) return readInbound(turn, request.inbound, { model, listens: snapshot.audioListeningEnabled });
  const expanded = command?.text ?? prepared?.modelText ?? null;
  if (request.attachments.length === 0) {
    const stored = userMessage(content, expanded, [], storedId);
    return { text: expanded ?? content, attachments: [], stored: { ...stored, id: prepared?.messageId ?? stored.id } };
  }
  try {
    const attachments = await resolveAttachments(request.attachments, {
      // A missing model must be reported after the user's message is stored, so it is not reported here.
      model: model ?? { name: 'unknown', supportsImage: true, supportsDocument: true },
      listens: snapshot.audioListeningEnabled,
      allowPrivateNetwork: runtime.allowPrivateNetwork,
      workspaceId: turn.workspaceId,
      signal,
    });
    if (!attachments.some((attachment) => attachment.kind === 'audio')) {
      return {
        text: expanded ?? content,
        attachments,
        stored: userMessage(content, expanded, toStored(attachments), storedId),
      };
    }
    // A transcription costs money: a message that the limit refuses must not cause one.
    await countTurn(turn);
    const heard = await transcribeAttachments(runtime.models, attachments, { model, signal });
    const text = [expanded ?? content, heard.text ?? ''].filter((part) => part !== '').join('\n\n');
    return { text, attachments: heard.attachments, stored: userMessage(content, text, heard.stored, storedId) };
  } catch (error) {
    if (isTimeout(turn, error)) await storeTimedOut(turn, userMessage(content, expanded, [], storedId));
    throw error;
  }
}

/**
 * A user's message as it is stored, under a new id unless an earlier attempt has stored it. `modelText` is what models read in place of
 * the content; null = the content.
 */
function userMessage(
  content: string,
  modelText: string | null,
  attachments: StoredAttachment[],
  storedId: string | undefined,
): UserMessage {
  return {
    id: storedId ?? newId(),
    isStored: storedId !== undefined,
    content,
    modelText,
    attachments,
    snippet: snippetOf(content === '' ? (modelText ?? '') : content),
  };
}
