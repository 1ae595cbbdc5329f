import type { Document } from '../../spec/rules/types.ts';
import { operationsIn } from './operationsIn.ts';

const RESPONSE = 'NotImplemented';

/**
 * Marks the operations that this release does not serve: with a first sentence in the description, the response 501, `x-not-implemented`
 * for tools, and `x-badges`, which the API reference shows. The operations stay valid in all else: requests to them are validated.
 */
export function markNotImplemented(document: Document, operationIds: readonly string[]): void {
  if (operationIds.length === 0) return;
  for (const operation of operationsIn(document)) {
    if (!operationIds.includes(operation.operationId ?? '')) continue;
    Object.assign(operation, {
      description: `This release does not serve this operation yet. A valid request gets 501 \`NOT_IMPLEMENTED\`.\n\n${operation.description ?? ''}`,
      responses: { ...operation.responses, 501: { $ref: `#/components/responses/${RESPONSE}` } },
      'x-not-implemented': true,
      'x-badges': [{ name: 'Not served yet', color: '#b45309' }],
    });
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/ApiError' } } };
  const response = {
    description: 'This release does not serve the operation yet.',
    content,
    'x-error-codes': ['NOT_IMPLEMENTED'],
  };
  document.components = {
    ...document.components,
    responses: { ...document.components?.responses, [RESPONSE]: response },
  };
}
