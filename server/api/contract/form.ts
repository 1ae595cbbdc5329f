import type { OperationId } from '../../../generated/operations.ts';
import type { FormShape } from '../upload.ts';
import type { DocumentedOperation, DocumentedPart } from './document.ts';

const MULTIPART = 'multipart/form-data';

/** The parts of an operation's form; undefined when it takes none. Throws when the document does not say how large its file may be. */
export function formOf({ operationId, requestBody }: DocumentedOperation): FormShape | undefined {
  const form = requestBody?.content[MULTIPART];
  if (!form) return undefined;
  const { file, ...others } = form.schema?.properties ?? {};
  const maxBytes = file?.['x-max-bytes'];
  if (!maxBytes) throw new Error(`The part file of ${operationId} has no x-max-bytes.`);
  return {
    maxBytes,
    parts: new Map(Object.entries(others).map(([name, part]) => [name, isJson(part) ? 'json' : 'text'])),
  };
}

function isJson({ contentMediaType }: DocumentedPart): boolean {
  return contentMediaType === 'application/json';
}

/**
 * A second operation that takes the form only, under an id of its own. openapi-backend validates every body of an operation that
 * takes JSON as JSON. A part in JSON is validated as what it says, and a file as any string: openapi-backend requires no part of the format
 * `binary`.
 */
export function formVariant(operation: DocumentedOperation): DocumentedOperation {
  const { requestBody, operationId } = operation;
  const { schema, ...media } = requestBody?.content[MULTIPART] ?? {};
  const parts = Object.entries(schema?.properties ?? {}).map(([name, part]) => {
    const { format: _binary, ...rest } = part;
    return [name, isJson(part) && part.contentSchema ? part.contentSchema : rest];
  });
  const content = { [MULTIPART]: { ...media, schema: { ...schema, properties: Object.fromEntries(parts) } } };
  return { ...operation, operationId: `${operationId}:form` as OperationId, requestBody: { ...requestBody, content } };
}
