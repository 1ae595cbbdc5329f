import type { StoredTranscript, TranscriptFormat2 } from '../../db/stored/transcript.ts';
import type { ModelMessage } from '../models/prompt.ts';

/** A turn's calls and results as they are stored in turns.transcript. */
export function storedTranscript(messages: readonly ModelMessage[]): TranscriptFormat2 {
  return { format: 2, messages: messages.filter((message) => message.role !== 'user') };
}

/**
 * The messages in turns.transcript, whatever format it is stored in. A format that this version does not know has none: the
 * conversation can continue without the calls of an earlier turn.
 */
export function transcriptMessages(stored: StoredTranscript | null): readonly ModelMessage[] {
  if (stored === null) return [];
  if (isFormat1(stored)) return stored;
  return stored.format === 2 ? stored.messages : [];
}

function isFormat1(stored: StoredTranscript): stored is Extract<StoredTranscript, readonly unknown[]> {
  return Array.isArray(stored);
}
