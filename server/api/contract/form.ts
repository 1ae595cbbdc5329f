import type { OperationId } from '../../../generated/operations.ts';
import type { FormShape } from '../upload.ts';
import type { DocumentedOperation } from './document.ts';

const MULTIPART = 'multipart/form-data';

/** The parts of an operation's form; undefined when it takes none. Throws when the document does not say how large its file may be. */
export function formOf({ operationId, requestBody }: DocumentedOperation): FormShape | undefined {
  const form = requestBody?.content[MULTIPART];
  if (!form) return undefined;
  const { file, ...others } = form.schema?.properties ?? {};
  const maxBytes = file?.['x-max-bytes'];
  if (!maxBytes) throw new Error(`The part file of ${operationId} has no x-max-bytes.`);
  const isJson = (name: string) => form.encoding?.[name]?.contentType === 'application/json';
  return { maxBytes, parts: new Map(Object.keys(others).map((name) => [name, isJson(name) ? 'json' : 'text'])) };
}

/**
 * A second operation that takes the form only, under an id of its own. openapi-backend validates every body of an operation that
 * takes JSON as JSON.
 */
export function formVariant(operation: DocumentedOperation): DocumentedOperation {
  const { requestBody, operationId } = operation;
  const content = { [MULTIPART]: requestBody?.content[MULTIPART] ?? {} };
  return { ...operation, operationId: `${operationId}:form` as OperationId, requestBody: { ...requestBody, content } };
}
