/** Rows that an attempt at a request with an Idempotency-Key has stored before it had an answer. The next attempt continues with them. */
export interface StoredBegunRequest {
  /** The external MCP server that is being added. */
  serverId?: string;
  /** The conversation of a turn, and the message that it answers. */
  conversationId?: string;
  messageId?: string;
  /** The last turn that was to answer it. */
  turnId?: string;
}
