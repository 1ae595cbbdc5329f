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

/**
 * One item of the JSON list in http_tools.operations: everything that a call of an endpoint needs. The column is named after
 * OpenAPI's own word for an endpoint; renaming it would cost a migration and change nothing. Elsewhere `operation` is an
 * operation of this service's own API.
 */
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
  /** JSON Schema of the inputs. */
  inputSchema: Record<string, unknown>;
}
