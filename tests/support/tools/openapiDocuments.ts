import { importEndpoints } from '../../../runtime/tools/openapi/import.ts';
import type { ImportRequest } from '../../../runtime/tools/openapi/importRequest.ts';

const ADDRESS = 'https://api.example.com/v1/openapi.json';

/** A document with one path, `/orders/{id}`, and one endpoint, `op`. */
export function documentOf(operation: object = {}, more: object = {}): Record<string, unknown> {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  return {
    openapi: '3.0.3',
    servers: [{ url: 'https://api.example.com/v1/' }],
    paths: { '/orders/{id}': { parameters, get: { operationId: 'op', ...operation } } },
    ...more,
  };
}

/** Imports `op` without a network request. */
export function importFrom(document: object, options: Partial<ImportRequest> & { address?: string } = {}) {
  const { address = ADDRESS, ...rest } = options;
  const source = { bytes: new Uint8Array(), address };
  return importEndpoints(document, { source, wanted: ['op'], baseUrl: undefined, authHeader: undefined, ...rest });
}

/** The one endpoint. Fails when the document has faults. */
export function imported(document: object, options: Parameters<typeof importFrom>[1] = {}) {
  const { endpoints, faults } = importFrom(document, options);
  expect(faults).toEqual([]);
  const [endpoint] = endpoints;
  if (!endpoint) throw new Error('nothing was imported');
  return endpoint;
}

/** Where the faults are. */
export function faultsOf(document: object, options: Parameters<typeof importFrom>[1] = {}): string[] {
  return importFrom(document, options).faults.map(({ field, steps }) => [field, ...steps].join(' '));
}
