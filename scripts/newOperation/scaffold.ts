import { PLACEHOLDER } from '../../spec/rules/noPlaceholder.ts';
import type { Document, Operation, Parameter, Schema } from '../../spec/rules/types.ts';
import type { OperationRow } from '../codegen/operations.ts';

/**
 * The texts of a new handler and its test, by file name. Both type-check. The test fails until the handler is written, and the
 * linter fails until no text begins with `TODO`.
 */
export function scaffold(row: OperationRow, document: Document): Record<string, string> {
  return {
    [`handlers/${row.folder}/${row.operationId}.ts`]: handlerText(row, document),
    [`tests/http/${row.folder}/${row.operationId}.test.ts`]: testText(row),
  };
}

function handlerText({ operationId, path, method, summary, requestBody }: OperationRow, document: Document): string {
  const operation = document.paths?.[path]?.[method.toLowerCase()] as Operation;
  const hasQuery = (operation.parameters ?? []).some((each) => deref<Parameter>(document, each).in === 'query');
  const given = [
    ...(path.includes('{') ? ['path'] : []),
    ...(hasQuery ? ['query'] : []),
    ...(requestBody === 'none' ? [] : ['body']),
    'db',
    'workspaceId',
    'reply',
  ];
  const own = Object.values(operation['x-error-codes'] ?? {}).flat();
  const throws = own.length > 0 ? ` Throws ${own.join(', ')}.` : '';
  return `import type { Handler } from '../handler.ts';

/** ${summary}.${throws} */
export const ${operationId}: Handler<'${operationId}'> = async ({ ${given.join(', ')} }) => {
  throw new Error('${PLACEHOLDER}: parse what the schema cannot, call domain/ or db/queries/, shape the response');
};
`;
}

function testText({ operationId, status, errorCodes }: OperationRow): string {
  const common = new Set(['400', '401', '413', '415', '429', '500', '503']);
  const own = Object.entries(errorCodes).filter(([code]) => !common.has(code));
  const blocks = own.map(
    ([code, names]) => `
describe('${code}', () => {
${names.map((name) => `  test('${PLACEHOLDER}: say when it is ${name}', async () => {\n    throw new Error('${PLACEHOLDER}: provoke ${name}');\n  });`).join('\n\n')}
});
`,
  );
  return `import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { exampleRequest } from '../../support/http/exampleRequest.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});

afterAll(() => app.close());

describe('${status}', () => {
  test('${PLACEHOLDER}: say what it guarantees', async () => {
    const { method, path, body } = exampleRequest('${operationId}');
    const response = await app.api(method, path).send(body as object);
    expect(response.status).toBe(${status});
  });
});
${blocks.join('')}`;
}

const texts: Record<string, string> = {
  uuid: '0192f0c1-8e2a-7c44-9f0e-6b1f3f1d2a77',
  'date-time': '2026-01-15T09:30:00Z',
  date: '2026-01-15',
  time: '09:30:00',
  email: 'ada@example.org',
  uri: 'https://example.org/',
};

/**
 * A value that fits a schema of a bundled document: the schema's own example if it has one, else one of its type. A text is a
 * placeholder, and may not match the pattern of its schema.
 */
export function exampleOf(document: Document, schema: Schema, depth = 0): unknown {
  const node = deref(document, schema);
  const known = [node.const, node.examples, node.default, node.enum].find((each) => each !== undefined);
  if (known !== undefined) return Array.isArray(known) ? known[0] : known;
  const parts = node.allOf ?? [];
  const choice = node.anyOf?.[0] ?? node.oneOf?.[0];
  if (choice) return exampleOf(document, choice, depth);
  const type = [node.type].flat()[0];
  if (type === 'object' || node.properties || parts.length > 0) {
    const own = Object.entries(node.properties ?? {}).map(([name, property]) => [
      name,
      exampleOf(document, property, depth + 1),
    ]);
    return Object.assign(
      {},
      ...parts.map((part) => exampleOf(document, part, depth)),
      Object.fromEntries(depth > 6 ? [] : own),
    );
  }
  if (type === 'array') return node.items && depth < 6 ? [exampleOf(document, node.items, depth + 1)] : [];
  if (type === 'integer' || type === 'number') return node.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return (
    texts[String(node.format)] ??
    PLACEHOLDER.padEnd(Number(node.minLength ?? 0), '.').slice(0, Number(node.maxLength ?? PLACEHOLDER.length))
  );
}

function deref<T extends { $ref?: string }>(document: Document, node: T): T {
  if (!node.$ref) return node;
  const [, , kind = '', name = ''] = node.$ref.split('/');
  return deref(document, document.components?.[kind]?.[name] as T);
}
