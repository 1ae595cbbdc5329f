import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument } from '../../core/document.ts';
import { operations } from '../../generated/operations.ts';
import { markNotImplemented } from '../../scripts/bundle/notImplemented.ts';
import { operationsIn } from '../../scripts/bundle/operationsIn.ts';
import type { Document, Operation } from '../../spec/rules/types.ts';

const { notImplemented } = JSON.parse(readFileSync(join(import.meta.dirname, 'burn-down.json'), 'utf8'));

type Marked = Operation & { 'x-not-implemented'?: boolean; 'x-badges'?: { name: string }[] };

const document = readDocument() as Document;
const webhooks = operationsIn({ ...document, paths: {} });

/** The operations that have a mark. */
function having(mark: (operation: Marked) => unknown): (string | undefined)[] {
  const found = operationsIn({ ...document, webhooks: {} }).filter((operation) => mark(operation));
  return found.map(({ operationId }) => operationId).toSorted();
}

test.each<[string, (operation: Marked) => unknown]>([
  ['x-not-implemented', (operation) => operation['x-not-implemented']],
  ['a badge', (operation) => operation['x-badges']?.some(({ name }) => name === 'Not served yet')],
  ['a response 501', (operation) => operation.responses?.['501']],
  [
    'a first sentence',
    (operation) => operation.description?.startsWith('This release does not serve this operation yet.'),
  ],
])('the operations of the burn-down list, and no others, have %s', (_mark, isMarked) => {
  expect(having(isMarked)).toEqual(notImplemented.toSorted());
});

test('a response 501 has the code NOT_IMPLEMENTED', () => {
  const codes = notImplemented.map((id: keyof typeof operations) => Reflect.get(operations[id].errorCodes, '501'));
  expect(codes).toEqual(notImplemented.map(() => ['NOT_IMPLEMENTED']));
});

test('a webhook is marked as long as an operation of its tag is', () => {
  const waiting = notImplemented.map((id: keyof typeof operations) => operations[id].tag);
  expect(webhooks.length).toBeGreaterThan(0);
  for (const webhook of webhooks as Marked[])
    expect(webhook['x-not-implemented'] ?? false).toBe(waiting.includes(webhook.tags?.[0]));
});

test('a document without such operations has no mark and no response 501', () => {
  const served: Document = { openapi: '3.1.1', paths: { '/agents': { get: { operationId: 'listAgents' } } } };
  const text = JSON.stringify(served);
  markNotImplemented(served, []);
  expect(JSON.stringify(served)).toBe(text);
});
