import type { Document, MediaType, Operation, Parameter, Schema } from '../../../spec/rules/types.ts';
import type { OperationRow } from '../operations.ts';

/** Keywords that say nothing about whether a value is valid, or that only the service checks: it does so in linear time. */
const NOT_CHECKED = new Set([
  'description',
  'examples',
  'x-schemas',
  'x-max-json-length',
  'x-max-bytes',
  'uniqueItems',
]);

/** What a tool's arguments are checked against before the call, and where each of them goes. */
export interface ArgumentRow {
  parameters: { name: string; in: 'path' | 'query'; required?: true; schema: Schema }[];
  /** The schema of `body`, and what it is when a file comes with it. */
  body?: Schema;
  bodyRequired?: true;
  file?: { maxBytes: number; required?: true; body?: Schema };
}

/** The content of generated/toolSchemas.json: the document's own schemas, with only those parts that check. */
export interface ArgumentSchemas {
  $defs: Record<string, Schema>;
  tools: Record<string, ArgumentRow>;
}

/** A parameter of an operation, whether it is written there or referred to, and the name of the component. */
export function parametersOf(document: Document, operation: Operation): { component: string; parameter: Parameter }[] {
  return (operation.parameters ?? []).map((given) => {
    const component = given.$ref?.split('/').at(-1) ?? '';
    const parameter = given.$ref ? (document.components?.parameters?.[component] as Parameter) : given;
    return { component, parameter };
  });
}

/** The bodies that an operation takes, by media type. */
export function bodyContent(document: Document, { requestBody }: Operation): Record<string, MediaType> {
  const name = requestBody?.$ref?.split('/').at(-1);
  const body = name === undefined ? requestBody : document.components?.requestBodies?.[name];
  return (body as { content?: Record<string, MediaType> } | undefined)?.content ?? {};
}

/** The schemas of the arguments of these operations, by operationId. */
export function argumentSchemas(document: Document, rows: OperationRow[]): ArgumentSchemas {
  const $defs: Record<string, Schema> = {};
  const take = (schema: Schema): Schema => checked(document, $defs, schema);
  const tools: Record<string, ArgumentRow> = {};
  for (const row of rows) {
    const operation = document.paths?.[row.path]?.[row.method.toLowerCase()] as Operation;
    const parameters = parametersOf(document, operation)
      .map(({ parameter }) => parameter)
      .filter((each) => each.in !== 'header')
      .map((each) => ({
        name: each.name,
        in: each.in as 'path' | 'query',
        ...(each.required ? { required: true as const } : {}),
        schema: take(each.schema ?? {}),
      }));
    const content = bodyContent(document, operation);
    const json = content['application/json']?.schema;
    const form = content['multipart/form-data']?.schema;
    tools[row.operationId] = {
      parameters,
      ...(json ? { body: take(json) } : {}),
      ...(json && !form && row.bodyRequired ? { bodyRequired: true } : {}),
      ...(form ? { file: fileRow(document, form, json !== undefined, take) } : {}),
    };
  }
  return { $defs, tools };
}

function fileRow(document: Document, form: Schema, optional: boolean, take: (schema: Schema) => Schema) {
  const { properties = {} } = form.$ref ? component(document, form.$ref) : form;
  const maxBytes = properties.file?.['x-max-bytes'];
  if (typeof maxBytes !== 'number') throw new Error('A file of a form needs x-max-bytes');
  const unknown = Object.keys(properties).filter((name) => name !== 'file' && name !== 'metadata');
  if (unknown.length > 0) throw new Error(`scripts/codegen/tools: no argument for the form's part ${unknown}`);
  const metadata = properties.metadata?.contentSchema;
  return { maxBytes, ...(optional ? {} : { required: true as const }), ...(metadata ? { body: take(metadata) } : {}) };
}

/** The schema without what does not check. What it refers to goes into `$defs`. */
function checked(document: Document, $defs: Record<string, Schema>, schema: Schema): Schema {
  const map = (schemas: Record<string, Schema>) =>
    Object.fromEntries(Object.entries(schemas).map(([key, each]) => [key, checked(document, $defs, each)]));
  const result: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (NOT_CHECKED.has(keyword)) continue;
    if (keyword === '$ref') result.$ref = `#/$defs/${define(document, $defs, value as string)}`;
    else if (keyword === 'properties') result.properties = map(value as Record<string, Schema>);
    else if (Array.isArray(value) && ['anyOf', 'allOf', 'oneOf'].includes(keyword))
      result[keyword] = value.map((each) => checked(document, $defs, each));
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      result[keyword] = checked(document, $defs, value as Schema);
    else result[keyword] = value;
  }
  return result;
}

function define(document: Document, $defs: Record<string, Schema>, ref: string): string {
  const name = ref.split('/').at(-1) ?? '';
  if (!(name in $defs)) {
    $defs[name] = {};
    $defs[name] = checked(document, $defs, component(document, ref));
  }
  return name;
}

/** @throws Error when the document has no such component */
export function component(document: Document, ref: string): Schema {
  const [, , kind = '', name = ''] = ref.split('/');
  const schema = document.components?.[kind]?.[name];
  if (!schema) throw new Error(`${ref} is not in the document`);
  return schema as Schema;
}
