import type { StoredTranscript, StoredTurn, TranscriptFormat3 } from '../../db/stored/transcript.ts';
import type { ModelMessage } from '../models/prompt.ts';
import type { ShownFrom } from './shown.ts';

/** What later turns are shown of a turn, beside its messages. */
export interface TurnTranscript {
  /** The calls and their results, with the text beside the calls if `reply` is given. */
  messages: readonly ModelMessage[];
  /** What the model said after the last call; null: the text beside the calls is in the reply. */
  reply: string | null;
  /** What stood beside the message that the turn answered; '' = nothing. */
  beside: string;
  /** From where on the turn was shown its conversation; null: from the beginning, as it was. */
  shown: ShownFrom | null;
}

const NOTHING: TurnTranscript = { messages: [], reply: null, beside: '', shown: null };

/** The transcript as it is stored in turns.transcript; null when there is nothing to store. */
export function storedTranscript(transcript: TurnTranscript): TranscriptFormat3 | null {
  const { messages, reply, beside } = transcript;
  const shown = hasMoved(transcript.shown) ? transcript.shown : null;
  if (messages.length === 0 && beside === '' && shown === null) return null;
  const turn: StoredTurn = {
    messages: messages.filter((message) => message.role !== 'user'),
    ...(reply === null ? {} : { reply }),
    ...(beside === '' ? {} : { beside }),
    ...(shown === null ? {} : { shown }),
  };
  return { format: 3, json: JSON.stringify(turn) };
}

/**
 * The transcript in turns.transcript, whatever format it is stored in. A format that this version does not know has none: the
 * conversation can continue without the calls of an earlier turn.
 */
export function transcriptOfTurn(stored: StoredTranscript | null): TurnTranscript {
  if (stored === null) return NOTHING;
  if (isFormat1(stored)) return { ...NOTHING, messages: stored };
  if (stored.format === 2) return { ...NOTHING, messages: stored.messages };
  if (stored.format !== 3) return NOTHING;
  const { messages, reply = null, beside = '', shown = null } = JSON.parse(stored.json) as StoredTurn;
  return { messages, reply, beside, shown };
}

const hasMoved = (shown: ShownFrom | null): boolean =>
  shown !== null && Math.max(shown.from, shown.callsFrom, shown.wholeFrom) > 0;

function isFormat1(stored: StoredTranscript): stored is Extract<StoredTranscript, readonly unknown[]> {
  return Array.isArray(stored);
}
