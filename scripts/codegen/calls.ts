import type { Document, Operation, Parameter } from '../../spec/rules/types.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** What generated/calls.ts says of one operation. */
interface CallRow {
  operationId: string;
  method: string;
  path: string;
  takesKey: boolean;
  paged: boolean;
}

/**
 * The text of generated/calls.ts: the little that a client needs when it runs. It is a module of its own because it is sent to browsers;
 * generated/operations.ts is six times as large.
 * @throws Error when the document says no version or no server
 */
export function callsModule(document: Document): string {
  const { version } = (document.info ?? {}) as { version?: string };
  const origin = document.servers?.[0]?.variables?.origin?.default;
  if (!version || !origin) throw new Error('The document needs info.version and a default of the variable origin');
  const rows = callRows(document).map(({ operationId, ...row }) => `  ${operationId}: ${JSON.stringify(row)},`);
  return `// Written by \`npm run codegen\` from spec/. Do not edit.

/** The version of the document, and of the clients that are made from it. */
export const API_VERSION = ${JSON.stringify(version)};

/** Where the service is reached when nobody says otherwise. */
export const DEFAULT_ORIGIN = ${JSON.stringify(origin)};

/** How each operation is called. \`takesKey\`: it takes an \`Idempotency-Key\`. \`paged\`: it takes \`page\` and \`limit\`. */
export const calls = {
${rows.join('\n')}
} as const;
`;
}

function callRows(document: Document): CallRow[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method] as Operation;
      const names = new Set((operation.parameters ?? []).map((parameter) => resolved(document, parameter).name));
      return {
        operationId: operation.operationId ?? '',
        method: method.toUpperCase(),
        path,
        takesKey: names.has('Idempotency-Key'),
        paged: names.has('page'),
      };
    }),
  );
}

function resolved(document: Document, parameter: Parameter): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  return name === undefined ? parameter : (document.components?.parameters?.[name] as Parameter);
}
