/** One item of the JSON list in messages.attachments: everything but the content of an attachment. */
export interface StoredAttachment {
  mediaType: string;
  filename: string;
  sizeBytes: number;
  sha256: string;
  url?: string;
  /** The transcript of a recording. */
  transcript?: string;
}
