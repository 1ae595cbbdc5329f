import type { StoredMessage } from './modelMessage.ts';

/** The JSON of turns.transcript. It is read through `transcriptMessages`, which upgrades the older format. */
export type StoredTranscript = TranscriptFormat1 | TranscriptFormat2;

/** The format that is written today. A change of its shape is a new format: rows in the old one stay as they are. */
export interface TranscriptFormat2 {
  format: 2;
  messages: readonly StoredMessage[];
}

/** What was written before transcripts had a format number: the messages alone. */
export type TranscriptFormat1 = readonly StoredMessage[];
