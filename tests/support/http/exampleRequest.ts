import { readFileSync } from 'node:fs';
import { type OperationId, operations } from '../../../generated/operations.ts';

/** A schema as far as the tests read it. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: boolean | Schema;
};

type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Media = { schema: Schema; examples?: Record<string, { value: unknown }> };
type Operation = {
  operationId: OperationId;
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: { content: Record<string, Media> };
  'x-error-codes'?: Record<string, string[]>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
};

const document = JSON.parse(
  readFileSync(new URL('../../../generated/openapi.json', import.meta.url), 'utf8'),
) as Document;

/** Every operation of the document. */
export const operationIds = Object.keys(operations) as OperationId[];

/** The schema behind a reference, or the schema itself. */
export function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolve(document.components.schemas[name] ?? {});
}

/** The operation as the document has it. */
export function documented(id: OperationId): Operation {
  const { path, method } = operations[id];
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${id} is not in the document`);
  return operation;
}

/** The parameters of an operation, references resolved. */
export function parametersOf(id: OperationId): Parameter[] {
  return (documented(id).parameters ?? []).map((parameter) => {
    const name = parameter.$ref?.split('/').at(-1);
    const shared = name === undefined ? parameter : document.components.parameters[name];
    if (!shared) throw new Error(`${parameter.$ref} is not in the document`);
    return shared;
  });
}

/** A value that the schema of a parameter takes. Ids are of things that do not exist. */
function valueFor({ name, schema }: Parameter): string {
  const { type, format, enum: allowed, minimum = 1, minLength = 1 } = resolve(schema);
  if (allowed) return String(allowed[0]);
  if (format === 'uuid') return '0199a3f2-0000-7000-8000-00000000dead';
  if (type === 'integer') return String(minimum);
  if (type === 'string' && format === undefined) return 'x'.repeat(minLength);
  throw new Error(`No value for the parameter ${name}`);
}

/** A request that passes the schema of its operation. */
export interface ExampleRequest {
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  /** Relative to the API's prefix, with the required query parameters. */
  path: string;
  /** The first example of the JSON body, if the operation takes one. */
  body: unknown;
}

/** Builds it from the examples of the document. */
export function exampleRequest(id: OperationId): ExampleRequest {
  const parameters = parametersOf(id);
  let path: string = operations[id].path;
  for (const each of parameters) if (each.in === 'path') path = path.replace(`{${each.name}}`, valueFor(each));
  const query = parameters.filter((each) => each.in === 'query' && each.required);
  if (query.length > 0) path += `?${query.map((each) => `${each.name}=${valueFor(each)}`).join('&')}`;
  const examples = documented(id).requestBody?.content['application/json']?.examples;
  return {
    method: operations[id].method.toLowerCase() as ExampleRequest['method'],
    path,
    body: structuredClone(Object.values(examples ?? {})[0]?.value),
  };
}

/** The schema of an operation's JSON body, if it takes one. */
export function bodySchema(id: OperationId): Schema | undefined {
  return documented(id).requestBody?.content['application/json']?.schema;
}

/** Whether the operation takes a JSON body. */
export function takesJson(id: OperationId): boolean {
  return bodySchema(id) !== undefined;
}
