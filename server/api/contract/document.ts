import type { OperationId } from '../../../generated/operations.ts';
import type { FormShape } from '../upload.ts';

/** An operation of the document, references resolved. Only the fields that the server reads are typed. */
export interface DocumentedOperation {
  operationId: OperationId;
  method: string;
  path: string;
  parameters?: { name: string; in: string; schema?: { type?: unknown } }[];
  requestBody?: { required?: boolean; content: Record<string, DocumentedMediaType> };
  responses: Record<string, DocumentedResponse>;
  /** The parts of its form, if it takes one; read from `requestBody`. */
  form?: FormShape | undefined;
}

/** One response of an operation. */
export interface DocumentedResponse {
  headers?: Record<string, { required?: boolean; schema: object & { type?: unknown } }>;
  content?: Record<string, { schema?: object & { contentSchema?: object } }>;
}

/** One content type of a request body. */
export interface DocumentedMediaType {
  schema?: { properties?: Record<string, DocumentedPart> };
}

/** One part of a form. */
export interface DocumentedPart {
  'x-max-bytes'?: number;
  format?: string;
  contentMediaType?: string;
  /** Of a part in JSON: the schema of what its text says. */
  contentSchema?: object;
}
