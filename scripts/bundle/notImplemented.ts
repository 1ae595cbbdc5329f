import type { Document, Operation } from '../../spec/rules/types.ts';
import { operationsIn } from './operationsIn.ts';

const RESPONSE = 'NotImplemented';
const MARKS = { 'x-not-implemented': true, 'x-badges': [{ name: 'Not served yet', color: '#b45309' }] };

/**
 * Marks the operations that this release does not serve: with a first sentence in the description, the response 501, `x-not-implemented`
 * for tools, and `x-badges`, which the API reference shows. The operations stay valid in all else: requests to them are validated. A webhook is marked
 * while an operation of its tag is.
 */
export function markNotImplemented(document: Document, operationIds: readonly string[]): void {
  if (operationIds.length === 0) return;
  const operations = operationsIn(document);
  const unserved = operations.filter(({ operationId = '' }) => operationIds.includes(operationId));
  for (const operation of Object.values(document.webhooks ?? {}).flatMap(({ post }) =>
    post ? [post as Operation] : [],
  )) {
    if (!unserved.some(({ tags }) => tags?.[0] === operation.tags?.[0])) continue;
    Object.assign(operation, {
      description: `This release does not answer this request yet.\n\n${operation.description ?? ''}`,
      ...MARKS,
    });
  }
  for (const operation of unserved) {
    Object.assign(operation, {
      description: `This release does not serve this operation yet. A valid request gets 501 \`NOT_IMPLEMENTED\`.\n\n${operation.description ?? ''}`,
      responses: { ...operation.responses, 501: { $ref: `#/components/responses/${RESPONSE}` } },
      ...MARKS,
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
