import { documentSchema, namedSchemas, type SchemaName, schemaValidator } from '../../core/namedSchemas.ts';
import { FEATURES } from '../../domain/agents/config/features.ts';
import type { OperationId } from '../../generated/operations.ts';
import { DEFAULT_MAX_ROWS } from '../../runtime/tools/kinds/databaseQuery.ts';
import { TOOL_KINDS } from '../../runtime/tools/kinds/kinds.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../../runtime/tools/tool.ts';
import { createContract } from '../../server/api/contract/contract.ts';

/** The open objects of the document whose schemas `x-schemas` names. */
const FORMS: SchemaName[] = ['HttpToolConfiguration', 'FeatureConfig', 'MessageUi'];

const schemasOf = (form: SchemaName) => [...new Set(namedSchemas(form).mapping.values())];

/** Every schema in a schema that is not a reference, with its place. */
function* nodesOf(node: unknown, place: string): Generator<[string, Record<string, unknown>]> {
  if (typeof node !== 'object' || node === null) return;
  yield [place, node as Record<string, unknown>];
  for (const [key, inner] of Object.entries(node)) yield* nodesOf(inner, `${place}.${key}`);
}

/** Keywords that bound a value. */
const BOUNDS = /^(min|max|x-max-)/;

describe.each(FORMS)('%s', (form) => {
  test('the schemas that it names compile', () => {
    for (const name of schemasOf(form)) expect(schemaValidator(name)).toBeInstanceOf(Function);
  });

  test('no description repeats a bound: only the keyword says it', () => {
    for (const [place, node] of schemasOf(form).flatMap((name) => [...nodesOf(documentSchema(name), name)])) {
      const bounds = Object.entries(node).filter(([key, value]) => BOUNDS.test(key) && Number(value) > 1);
      const numbers = (String(node.description ?? '').match(/\d[\d,]*/g) ?? []).map((text) => text.replaceAll(',', ''));
      expect([place, numbers.filter((text) => bounds.some(([, bound]) => String(bound) === text))]).toEqual([
        place,
        [],
      ]);
    }
  });

  test('every pattern is linear: it repeats single characters only', () => {
    for (const [place, node] of schemasOf(form).flatMap((name) => [...nodesOf(documentSchema(name), name)])) {
      if (typeof node.pattern === 'string') expect([place, /\)[*+{]/.test(node.pattern)]).toEqual([place, false]);
    }
  });
});

test('every kind of tool has a schema for its configuration', () => {
  expect([...namedSchemas('HttpToolConfiguration').mapping.keys()].toSorted()).toEqual(
    Object.keys(TOOL_KINDS).toSorted(),
  );
});

test('every feature has a schema for its settings', () => {
  expect([...namedSchemas('FeatureConfig').mapping.keys()]).toEqual(FEATURES.map(({ key }) => key));
});

test('the descriptions say the defaults of the service', () => {
  const described = (name: SchemaName, field: string) =>
    (documentSchema(name).properties as Record<string, { description: string }>)[field]?.description;
  for (const name of ['HttpRequestConfiguration', 'DatabaseQueryConfiguration'] as const)
    expect(described(name, 'timeoutSeconds')).toContain(`; ${DEFAULT_TIMEOUT_SECONDS} when it is left out`);
  expect(described('DatabaseQueryConfiguration', 'maxRows')).toContain(`, ${DEFAULT_MAX_ROWS} when it is left out`);
});

describe('the check of responses', () => {
  type Examples = Record<string, { value: unknown }>;

  /** What the check says about the first example of an operation after a change of it. */
  async function checked(operationId: OperationId, change: (body: never) => void): Promise<string | undefined> {
    const contract = await createContract({});
    const operation = contract.operations.find((each) => each.operationId === operationId);
    const content = operation?.responses[200]?.content?.['application/json'] as { examples?: Examples } | undefined;
    const body = structuredClone(Object.values(content?.examples ?? {})[0]?.value);
    if (!operation || body === undefined) throw new Error(operationId);
    change(body as never);
    return contract.checkResponse(operation, 200, body);
  }

  test('finds an object that does not fit the schema for its kind', async () => {
    const wrong = await checked('getTool', (tool: { configuration: Record<string, unknown> }) => {
      tool.configuration.timeoutSeconds = 121;
    });
    expect(wrong).toContain('/configuration/timeoutSeconds');
  });

  test('finds one deep in a tree', async () => {
    const wrong = await checked('listConversationMessages', ({ items }: { items: { ui: unknown }[] }) => {
      for (const item of items) item.ui = { type: 'stack', children: [{ type: 'heading', text: 'a', level: 4 }] };
    });
    expect(wrong).toContain('/ui/children/0/level');
  });

  test('accepts the examples, and an object of a kind that has no schema', async () => {
    expect(await checked('getTool', () => {})).toBeUndefined();
    const other = ({ items }: { items: { ui: unknown }[] }) => {
      for (const item of items) item.ui = { type: 'video', anything: true };
    };
    expect(await checked('listConversationMessages', other)).toContain('/ui/type');
  });
});
