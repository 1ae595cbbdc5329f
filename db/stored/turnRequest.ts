/** The JSON of turns.request: what was asked of a turn, as far as no other row has it. Null where all of it is elsewhere. */
export interface StoredTurnRequest {
  format: 1;
  /** Of a turn without a message of the user: what the model reads in its place. */
  content?: string;
  /** Of the message. */
  metadata?: Record<string, unknown>;
  /** Calls that need an approval are made without one. */
  autoApprove?: true;
  /** What the message decided about calls that waited, by their ids, and about all of them. */
  decisions?: { byId: (readonly [string, 'approve' | 'reject'])[]; all: 'approve' | 'reject' | null };
  /** Files that stood in the request itself, by the SHA-256 of their content: 2 MiB of text at most, as the request has. */
  files?: { sha256: string; base64: string }[];
  /** The turn counts against the monthly limit of the workspace. */
  isCounted?: true;
}
