import { createAjv } from '../../core/ajv.ts';
import { readDocument } from '../../core/document.ts';
import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { writeErrorExamples } from '../../scripts/bundle/errorExamples.ts';
import { operationsIn } from '../../scripts/bundle/operationsIn.ts';
import type { Document, Example, Operation, Response } from '../../spec/rules/types.ts';

const document = readDocument() as Document;
const ajv = createAjv();
ajv.addSchema({ $id: 'document:', ...document });
const isApiError = ajv.compile({ $ref: 'document:#/components/schemas/ApiError' });

function target<T>(node: { $ref?: string } | undefined): T {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(node?.$ref ?? '') ?? [];
  return (kind ? document.components?.[kind]?.[name] : node) as T;
}

test.each(Object.keys(operations) as OperationId[])('%s shows each of its codes once, with its text', (id) => {
  const { path, method, errorCodes, requestBody } = operations[id];
  const responses = (document.paths?.[path]?.[method.toLowerCase()] as Operation | undefined)?.responses;
  for (const [status, codes] of Object.entries(errorCodes)) {
    const { content } = target<Response>(responses?.[status]);
    const examples = Object.entries(content?.['application/json']?.examples ?? {});
    expect(examples.map(([code]) => code)).toEqual(codes);
    for (const [code, example] of examples) {
      const { value } = target<Example>(example);
      expect(isApiError(value) ? [] : isApiError.errors).toEqual([]);
      expect(value).toMatchObject({ code, ...ERRORS[code as ErrorCode], status: Number(status) });
      if (requestBody === 'none') expect(JSON.stringify(value)).not.toContain('"/body');
    }
  }
});

test.each(operationsIn({ ...document, paths: {} }).map((webhook) => [webhook.operationId, webhook]))(
  'the webhook operation %s shows each of its codes once',
  (_id, webhook) => {
    const { responses, 'x-error-codes': own = {} } = webhook as Operation;
    for (const [status, node] of Object.entries(responses ?? {}).filter(([each]) => each >= '400')) {
      const { content, 'x-error-codes': common = [] } = target<Response>(node);
      const examples = Object.keys(content?.['application/json']?.examples ?? {});
      expect([status, examples]).toEqual([status, [...common, ...(own[status] ?? [])]]);
    }
  },
);

test('no example and no error response is there without an operation that shows it', () => {
  const text = JSON.stringify(document);
  const unused = ['examples', 'responses'].flatMap((kind) =>
    Object.keys(document.components?.[kind] ?? {})
      .map((name) => `#/components/${kind}/${name}`)
      .filter((ref) => !text.includes(`"${ref}"`)),
  );
  expect(unused).toEqual([]);
});

test('a document of an earlier release, with a code that is no longer known, keeps its response without an example', () => {
  const responses = { Gone: { description: 'gone', content: { 'application/json': { schema: {} } } } };
  const get = {
    operationId: 'getThing',
    responses: { 410: { $ref: '#/components/responses/Gone' } },
    'x-error-codes': { 410: ['THING_GONE'] },
  };
  const old: Document = { openapi: '3.1.1', paths: { '/thing': { get } }, components: { responses } };
  writeErrorExamples(old);
  expect(get.responses[410].$ref).toBe('#/components/responses/Gone');
  expect(old.components?.responses?.Gone).toMatchObject({ description: 'gone' });
  expect(old.components?.examples).toEqual({});
});
