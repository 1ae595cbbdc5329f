/** One item of the JSON list in inbound_messages.files: a file that a person sent, until the message is answered. */
export interface StoredInboundFile {
  /** In the file store. */
  key: string;
  mediaType: string;
  filename: string;
}
