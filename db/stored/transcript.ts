import type { StoredMessage } from './modelMessage.ts';

/** The JSON of turns.transcript. It is read through `transcriptOfTurn`, which upgrades the older formats. */
export type StoredTranscript = TranscriptFormat1 | TranscriptFormat2 | TranscriptFormat3;

/**
 * The format that is written today. A change of its shape is a new format: rows in the old one stay as they are. `json` is the JSON of
 * StoredTurn as a text, because jsonb changes the order of properties: a model that reads its own calls with other arguments in front is
 * not sent what it was sent before.
 */
export interface TranscriptFormat3 {
  format: 3;
  json: string;
}

/** What later turns are shown of a turn. */
export interface StoredTurn {
  /** The calls and their results, with the text beside the calls. */
  messages: readonly StoredMessage[];
  /** What the model said after the last call. Absent: the text beside the calls is in the reply, and not in `messages`. */
  reply?: string;
  /** What stood beside the message that the turn answered. */
  beside?: string;
  /** From where on the turn was shown its conversation. Absent: from the beginning, as it was. */
  shown?: StoredShown;
}

/** From where on a conversation is shown: values of messages.seq. */
export interface StoredShown {
  /** The oldest message. */
  from: number;
  /** Tokens of the window that `from` was chosen for. */
  window: number;
  /** The oldest message with its calls. */
  callsFrom: number;
  /** The oldest message with whole results, and with what stood beside it. */
  wholeFrom: number;
}

/** What was written before the order of arguments was kept. The text beside calls is in the reply. */
export interface TranscriptFormat2 {
  format: 2;
  messages: readonly StoredMessage[];
}

/** What was written before transcripts had a format number: the messages alone. */
export type TranscriptFormat1 = readonly StoredMessage[];
