/** What the service serves its document as. */
export type DocumentFormat = 'json' | 'yaml';

/** The question to worker.ts. */
export interface RenderRequest {
  format: DocumentFormat;
  /** Where the service is reached, without a slash at its end; stands in the document for the origin of its server. Empty: unknown. */
  origin: string;
}

/** The document as text, compressed; its answer. */
export interface RenderedDocument {
  brotli: Uint8Array;
  gzip: Uint8Array;
  /** Weak: the same for each encoding. */
  etag: string;
}
