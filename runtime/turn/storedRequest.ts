import type { UserMessage } from '../../db/queries/turns/turnStart.ts';
import type { StoredAttachment } from '../../db/stored/attachment.ts';
import type { StoredTurnRequest } from '../../db/stored/turnRequest.ts';
import type { AttachmentInput } from '../files/attachments.ts';
import type { Turn } from './types.ts';

/**
 * What was asked of the turn and no other row has, for a process that goes on with it; null when there is nothing. It is removed when the turn
 * ends. `message` is the one that it answers, as it is stored.
 */
export function storedRequest(
  { kind, request: { content, metadata, autoApprove, attachments }, decisions: { byId, all }, isLimited }: Turn,
  message: UserMessage | null,
): StoredTurnRequest | null {
  const files = inlineFiles(attachments, message?.attachments ?? []);
  const stored = {
    ...(kind === 'message' ? {} : { content }),
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(autoApprove ? { autoApprove } : {}),
    ...(byId.size > 0 || all !== null ? { decisions: { byId: [...byId], all } } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(isLimited ? { isCounted: true as const } : {}),
  };
  return Object.keys(stored).length > 0 ? { format: 1, ...stored } : null;
}

/** The files that no address leads to, each once. Of a recording the transcript is stored. */
function inlineFiles(
  inputs: readonly AttachmentInput[],
  attachments: readonly StoredAttachment[],
): { sha256: string; base64: string }[] {
  const bySha256 = new Map<string, string>();
  for (const [place, { sha256, transcript }] of attachments.entries()) {
    const { base64 } = inputs[place] ?? {};
    if (base64 !== undefined && transcript === undefined) bySha256.set(sha256, base64);
  }
  return [...bySha256].map(([sha256, base64]) => ({ sha256, base64 }));
}
