import type { JsonSchema } from '../tool.ts';

/** How a parameter is written into a request: the styles of OpenAPI 3.1, 4.8.12.2, or JSON text where it has a `content`. */
export type ParameterStyle = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json';

/** A parameter of an operation. */
export interface ImportedParameter {
  /** Field of the inputs that it is filled from. */
  input: string;
  name: string;
  in: 'path' | 'query' | 'header';
  style: ParameterStyle;
  explode: boolean;
}

/** What the import of a document keeps of an operation: all that calling it needs. */
export interface ImportedOperation {
  operationId: string;
  /** For the model; '' when the document says nothing. */
  description: string;
  method: string;
  /** Address of the API, without a slash at its end. */
  server: string;
  /** With its parameters in single braces. */
  path: string;
  parameters: ImportedParameter[];
  /** Content-Type of the body, which is JSON and comes from the input `body`; null when it takes none. */
  bodyType: string | null;
  inputSchema: JsonSchema;
}

/** What is to be imported of a document. */
export interface ImportOrder {
  /** Parsed already, or its text: JSON or YAML. */
  source: { document: Record<string, unknown> } | { text: string; address: string };
  /** operationIds. */
  wanted: string[];
  baseUrl: string | undefined;
  /** The header that carries the secret, which no parameter may set. */
  authHeader: string | undefined;
}

/** Something in a document that stands in the way. */
export interface DocumentFault {
  /** Field of the configuration that is at fault. */
  field: 'openapi' | 'baseUrl' | 'operations';
  /** Way to the fault within the field, step by step. */
  steps: (string | number)[];
  message: string;
}

/** What came of an import: operations in the order in which they were wanted, or what is wrong. */
export interface Imported {
  operations: ImportedOperation[];
  faults: DocumentFault[];
}
