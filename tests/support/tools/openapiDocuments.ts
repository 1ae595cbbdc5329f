import type { ImportOrder } from '../../../runtime/tools/openapi/endpoint.ts';
import { importOperations } from '../../../runtime/tools/openapi/import.ts';

const ADDRESS = 'https://api.example.com/v1/openapi.json';

/** A document of one path, `/orders/{id}`, with one operation, `op`. */
export function documentOf(operation: object = {}, more: object = {}): Record<string, unknown> {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  return {
    openapi: '3.0.3',
    servers: [{ url: 'https://api.example.com/v1/' }],
    paths: { '/orders/{id}': { parameters, get: { operationId: 'op', ...operation } } },
    ...more,
  };
}

/** Reads it, without an address that it could be fetched from. */
export function importFrom(document: object, options: Partial<ImportOrder> & { address?: string } = {}) {
  const { address = ADDRESS, ...rest } = options;
  const source = { text: '', address };
  return importOperations(document, { source, wanted: ['op'], baseUrl: undefined, authHeader: undefined, ...rest });
}

/** The one operation, of which nothing may be wrong. */
export function imported(document: object, options: Parameters<typeof importFrom>[1] = {}) {
  const { operations, faults } = importFrom(document, options);
  expect(faults).toEqual([]);
  const [operation] = operations;
  if (!operation) throw new Error('nothing was imported');
  return operation;
}

/** Where the faults are. */
export function faultsOf(document: object, options: Parameters<typeof importFrom>[1] = {}): string[] {
  return importFrom(document, options).faults.map(({ field, steps }) => [field, ...steps].join(' '));
}
