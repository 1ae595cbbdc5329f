import { kebab } from '../../spec/rules/contract.ts';
import type { Document, Operation, RequestBody, Response } from '../../spec/rules/types.ts';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** One row of generated/operations.ts. */
export type OperationRow = {
  operationId: string;
  method: string;
  path: string;
  tag: string;
  folder: string;
  summary: string;
  status: number;
  statuses: number[];
  errorCodes: Record<string, string[]>;
  requestBody: 'json' | 'multipart' | 'json-or-multipart' | 'none';
  bodyRequired: boolean;
};

/**
 * Every operation of a bundled document, in the document's order.
 * @throws Error when an operation has no id, tag or single success status, or a body that no parser of ours reads.
 */
export function operationRows(document: Document): OperationRow[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method) => row(document, path, method, item[method] as Operation)),
  );
}

function row(document: Document, path: string, method: string, operation: Operation): OperationRow {
  const name = operation.operationId ?? `${method} ${path}`;
  const responses = operation.responses ?? {};
  const statuses = Object.keys(responses).map(Number);
  const success = statuses.filter((status) => status < 400);
  const tag = operation.tags?.[0];
  if (!operation.operationId || !tag) throw new Error(`${name}: needs an operationId and a tag`);
  if (success.length !== 1 || success[0] === undefined) throw new Error(`${name}: needs exactly one success status`);
  const body = resolve<RequestBody>(document, operation.requestBody);
  const errorCodes: Record<string, string[]> = {};
  for (const status of statuses.filter((each) => each >= 400)) {
    const common = resolve<Response>(document, responses[status])?.['x-error-codes'] ?? [];
    errorCodes[status] = [...new Set([...common, ...(operation['x-error-codes']?.[status] ?? [])])];
  }
  return {
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag,
    folder: kebab(tag),
    summary: operation.summary ?? '',
    status: success[0],
    statuses,
    errorCodes,
    requestBody: bodyKind(name, Object.keys(body?.content ?? {})),
    bodyRequired: body?.required ?? false,
  };
}

function bodyKind(name: string, types: string[]): OperationRow['requestBody'] {
  const kind = types.toSorted().join(' ');
  if (kind === '') return 'none';
  if (kind === 'application/json') return 'json';
  if (kind === 'multipart/form-data') return 'multipart';
  if (kind === 'application/json multipart/form-data') return 'json-or-multipart';
  throw new Error(`${name}: no parser reads a body of ${kind}`);
}

function resolve<T extends { $ref?: string }>(document: Document, node: T | undefined): T | undefined {
  if (!node?.$ref) return node;
  const [, , kind = '', name = ''] = node.$ref.split('/');
  return document.components?.[kind]?.[name] as T | undefined;
}

/**
 * The path under which the API lives, from the document's `servers`: the address of the one server without its variable `origin`.
 * @throws Error when there is no single server, its address is not `{origin}` and a path without a slash at its end, or the default of
 * `origin` is no address that a client can call
 */
export function apiPrefix({ servers = [] }: Document): string {
  const [server, ...others] = servers;
  const prefix = /^\{origin\}((?:\/[^/{}]+)+)$/.exec(server?.url ?? '')?.[1];
  if (prefix === undefined || others.length > 0) {
    throw new Error('servers: needs exactly one, whose url is {origin} and a path such as {origin}/public/api/v1');
  }
  const origin = server?.variables?.origin?.default;
  if (origin === undefined || URL.parse(origin)?.origin !== origin) {
    throw new Error('servers: the variable origin needs a default such as http://127.0.0.1:3000');
  }
  return prefix;
}

/** The text of generated/operations.ts. */
export function operationsModule(prefix: string, rows: OperationRow[]): string {
  const entries = rows.map(({ operationId, ...entry }) => `  ${operationId}: ${JSON.stringify(entry)},`);
  return `// Written by \`npm run codegen\` from spec/. Do not edit.

/** Where the API lives: the paths of the operations are relative to it. */
export const API_PREFIX = ${JSON.stringify(prefix)};

/** Every operation of the document, by operationId. \`errorCodes\` holds the common codes and the operation's own. */
export const operations = {
${entries.join('\n')}
} as const;

/** Name of an operation. */
export type OperationId = keyof typeof operations;
`;
}
