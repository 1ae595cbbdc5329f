import type { JsonSchema } from '../tool.ts';

/** How a parameter is written into a request: the styles of OpenAPI 3.1, 4.8.12.2, or JSON text where it has a `content`. */
export type ParameterStyle = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json';

/** A parameter of an endpoint. */
export interface ImportedParameter {
  /** The field of the inputs that has its value. */
  input: string;
  name: string;
  in: 'path' | 'query' | 'header';
  style: ParameterStyle;
  explode: boolean;
}

/** An endpoint of an API, which its OpenAPI document calls an operation: everything that a call of it needs. */
export interface ImportedEndpoint {
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

/** The request to import endpoints from a document. */
export interface ImportRequest {
  /** The parsed document, or its text (JSON or YAML) and where it came from. */
  source: { document: Record<string, unknown> } | { text: string; address: string };
  /** The operationIds to import. */
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
