import { newId } from '../../core/ids.ts';
import type { NewDelivery } from '../../db/queries/channels/turnEnd.ts';
import { publicFile } from '../files/publicFiles.ts';
import { uiAsMarkdown } from '../generativeUi/asText.ts';
import { whatsappPieces } from './whatsappText.ts';

/** A reply, as it goes out over a channel. */
export interface OutgoingReply {
  messages: readonly { id: string; content: string }[];
  /** Milliseconds before each message, counted from the one before it. */
  delaysMs: readonly number[];
  /** With the last message. */
  ui: Record<string, unknown> | null;
  /** The whole reply, spoken; it is sent in place of the text. */
  audioKey: string | null;
  now: Date;
}

/**
 * What is sent for a reply, in its order: each message in pieces that the channel takes, or the recording when the agent speaks. Components
 * are sent as text. A message of white space sends nothing.
 */
export function deliveriesOf({ messages, delaysMs, ui, audioKey, now }: OutgoingReply): NewDelivery[] {
  const last = messages.length - 1;
  const mediaType = audioKey === null ? undefined : publicFile(audioKey)?.mediaType;
  let dueAt = now.getTime();
  return messages.flatMap(({ id, content }, place) => {
    dueAt += delaysMs[place] ?? 0;
    const isLast = place === last;
    const shown = isLast && ui ? whatsappPieces(uiAsMarkdown(ui)) : [];
    const spoken = isLast && audioKey !== null && mediaType !== undefined;
    const text = mediaType === undefined ? whatsappPieces(content) : [];
    const contents: NewDelivery['content'][] = [
      ...text.map((piece) => ({ kind: 'text' as const, text: piece })),
      ...(spoken ? [{ kind: 'audio' as const, key: audioKey, mediaType }] : []),
      ...shown.map((piece) => ({ kind: 'text' as const, text: piece })),
    ];
    return contents.map((each, at) => ({
      id: newId(),
      messageId: id,
      place: at,
      content: each,
      dueAt: new Date(dueAt),
      typingMs: at === 0 ? (delaysMs[place] ?? 0) : 0,
    }));
  });
}
