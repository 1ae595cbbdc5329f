import { documentSchema, namedSchemas, type SchemaName, schemaValidator } from '../../core/namedSchemas.ts';
import { FEATURES } from '../../domain/agents/config/features.ts';
import { DEFAULT_MAX_ROWS } from '../../runtime/tools/kinds/databaseQuery.ts';
import { TOOL_KINDS } from '../../runtime/tools/kinds/kinds.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../../runtime/tools/tool.ts';

/** The open objects of the document whose schemas `x-schemas` names. */
const FORMS: SchemaName[] = ['HttpToolConfiguration', 'FeatureConfig'];

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
