import type { ImportedEndpoint } from '../../../db/stored/importedEndpoint.ts';

/** The request to import endpoints from a document. */
export interface ImportRequest {
  /** The parsed document, or its text in UTF-8 (JSON or YAML) and where it came from. */
  source: { document: Record<string, unknown> } | { bytes: Uint8Array; address: string };
  /** The operations to import: operationIds, `METHOD /path`, or the names that operations without an operationId get. */
  wanted: string[];
  baseUrl: string | undefined;
  /** The header that carries the secret, which no parameter may set. */
  authHeader: string | undefined;
}

/** Something in a document that prevents the import. */
export interface DocumentFault {
  /** Field of the configuration that is at fault. */
  field: 'openapi' | 'baseUrl' | 'operations';
  /** The path to the fault within the field. */
  steps: (string | number)[];
  message: string;
}

/** The result of an import: endpoints in the order in which they were requested, or what is wrong. */
export interface ImportResult {
  endpoints: ImportedEndpoint[];
  faults: DocumentFault[];
}
