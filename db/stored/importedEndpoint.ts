/**
 * How a value is written into a request: the styles of OpenAPI 3.1, 4.8.12.2, `tabDelimited` for Swagger 2's `tsv`, or JSON text where it has a
 * `content`.
 */
export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'tabDelimited'
  | 'deepObject'
  | 'json';

/** How a value is written. */
export interface WrittenAs {
  style: ParameterStyle;
  explode: boolean;
  /** Whether reserved characters of a query or of a form stay as they are. Absent where they do not. */
  allowReserved?: true;
  /** The media type of a part of a multipart form, where it is neither that of plain text nor application/json. */
  contentType?: string;
}

/** A parameter of an endpoint. */
export interface ImportedParameter extends WrittenAs {
  /** The field of the inputs that has its value. */
  input: string;
  name: string;
  in: 'path' | 'query' | 'header';
  /** What is always sent: the document allows nothing else. There is no input then. */
  fixed?: unknown;
}

/**
 * One item of the JSON list in http_tools.operations: everything that a call of an endpoint needs. The column is named after
 * OpenAPI's own word for an endpoint; renaming it would cost a migration and change nothing. Elsewhere `operation` is an
 * operation of this service's own API.
 */
export interface ImportedEndpoint {
  /** The operationId, or a name made of method and path where the document has none, or has it twice. */
  operationId: string;
  /** For the model; '' when the document says nothing. */
  description: string;
  method: string;
  /** Address of the API, without a slash at its end. */
  server: string;
  /** With its parameters in single braces. */
  path: string;
  parameters: ImportedParameter[];
  /** Content-Type of the body, which comes from the input `body`: JSON, a form, or text. null when it takes none. */
  bodyType: string | null;
  /** How the fields of a form are written where the document says so. Absent in rows of tools that were written before forms were taken. */
  bodyFields?: Record<string, WrittenAs>;
  /** JSON Schema of the inputs. */
  inputSchema: Record<string, unknown>;
}
