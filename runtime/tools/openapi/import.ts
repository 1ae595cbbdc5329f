import { cutText } from '../../../core/text.ts';
import type { ImportedEndpoint, ImportedParameter } from '../../../db/stored/importedEndpoint.ts';
import { inputSchemaFaults } from '../configuration/inputSchema.ts';
import type { JsonSchema } from '../tool.ts';
import { BadDocument, type Fields, isFields, type Located, objectAt } from './document.ts';
import type { DocumentFault, ImportRequest, ImportResult } from './importRequest.ts';
import { type DocumentParameter, MAX_DESCRIPTION, readParameters } from './parameters.ts';
import { SchemaCollector, TooMuchSchema } from './schemas.ts';
import { serverOf } from './servers.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;
/** Characters of JSON of the schema of an endpoint's inputs. A larger one is too much for a model, and takes over 100 ms to compile. */
const MAX_SCHEMA_CHARS = 32_768;
/** Characters that are converted at most. A part of them is left out of the schema. */
const MAX_CONVERTED_CHARS = 8 * MAX_SCHEMA_CHARS;
/** How deep references are followed: the next value is tried while the schema of the inputs is too large. */
const DEPTHS = [Number.POSITIVE_INFINITY, 4, 2, 1, 0];

interface Candidate {
  method: string;
  path: string;
  item: Located<Fields>;
  operation: Located<Fields>;
}

function candidatesOf(document: Fields): Map<string, Candidate[]> {
  const found = new Map<string, Candidate[]>();
  for (const [path, value] of Object.entries(isFields(document.paths) ? document.paths : {})) {
    let item: Located<Fields>;
    try {
      item = objectAt(document, { value, steps: ['paths', path] });
    } catch (error) {
      // A requested endpoint of this path is then reported as not found.
      if (error instanceof BadDocument) continue;
      throw error;
    }
    for (const method of METHODS) {
      const operation = item.value[method];
      if (!isFields(operation) || typeof operation.operationId !== 'string') continue;
      const candidate = { method, path, item, operation: { value: operation, steps: [...item.steps, method] } };
      const same = found.get(operation.operationId);
      if (same) same.push(candidate);
      else found.set(operation.operationId, [candidate]);
    }
  }
  return found;
}

/** The JSON content of a request body; application/json if the document has it. */
function jsonContent(
  document: Fields,
  { operation }: Candidate,
): { type: string; schema: Located; required: boolean } | null {
  if (operation.value.requestBody === undefined) return null;
  const body = objectAt(document, { value: operation.value.requestBody, steps: [...operation.steps, 'requestBody'] });
  const content = isFields(body.value.content) ? body.value.content : {};
  const types = Object.keys(content).filter((type) => /[/+]json$/i.test(type.split(';', 1)[0]?.trim() ?? ''));
  const type = types.find((each) => /^application\/json$/i.test(each)) ?? types[0];
  if (type === undefined) {
    if (body.value.required !== true) return null;
    throw new BadDocument('must take JSON: other bodies are not supported', [...body.steps, 'content']);
  }
  const media = objectAt(document, { value: content[type], steps: [...body.steps, 'content', type] });
  const schema = { value: media.value.schema, steps: [...media.steps, 'schema'] };
  return { type, schema, required: body.value.required === true };
}

function describe({ summary, description }: Fields): string {
  const texts = [summary, description].filter((text) => typeof text === 'string' && text.trim() !== '');
  return cutText([...new Set(texts)].join('\n\n').trim(), MAX_DESCRIPTION);
}

/** A name for each input, of characters that models may use: the parameter's own unless another input has it. */
function nameInputs(found: readonly DocumentParameter[], hasBody: boolean): (DocumentParameter & { input: string })[] {
  const taken = new Set(['operationId', ...(hasBody ? ['body'] : [])]);
  const counts = new Map<string, number>();
  return found.map((each) => {
    const plain = each.name.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 50);
    const second = `${each.in}_${plain}`;
    let input = taken.has(plain) ? second : plain;
    while (taken.has(input)) {
      const count = counts.get(second) ?? 2;
      counts.set(second, count + 1);
      input = `${second}_${count}`;
    }
    taken.add(input);
    return { ...each, input };
  });
}

function importEndpoint(
  document: Fields,
  candidate: Candidate,
  server: string,
  request: ImportRequest,
): ImportedEndpoint {
  const { method, path, item, operation } = candidate;
  if (request.baseUrl === undefined) {
    for (const { value, steps } of [operation, item]) {
      if (!Array.isArray(value.servers) || value.servers.length === 0) continue;
      throw new BadDocument('has servers of its own: give a baseUrl, or leave the operation out', [
        ...steps,
        'servers',
      ]);
    }
  }
  const body = jsonContent(document, candidate);
  const parameters = nameInputs(readParameters(document, path, item, operation, request.authHeader), body !== null);
  const inputSchema = inputsOf(document, operation, parameters, body);
  return {
    operationId: String(operation.value.operationId),
    description: describe(operation.value),
    method: method.toUpperCase(),
    server,
    path,
    parameters: parameters.map(
      ({ input, name, in: where, style, explode }): ImportedParameter => ({ input, name, in: where, style, explode }),
    ),
    bodyType: body?.type ?? null,
    inputSchema,
  };
}

function inputsOf(
  document: Fields,
  operation: Located<Fields>,
  parameters: readonly (DocumentParameter & { input: string })[],
  body: ReturnType<typeof jsonContent>,
): JsonSchema {
  for (const depth of DEPTHS) {
    const schema = schemaOfInputs(new SchemaCollector(document, depth, MAX_CONVERTED_CHARS), parameters, body);
    if (schema === undefined || JSON.stringify(schema).length > MAX_SCHEMA_CHARS) continue;
    const [fault] = inputSchemaFaults(schema, '');
    if (fault === undefined) return schema;
    throw new BadDocument(`takes inputs that make no JSON Schema: ${fault.path} ${fault.message}`, operation.steps);
  }
  throw new BadDocument('takes inputs that are too large to describe', operation.steps);
}

/** The schema of all inputs; undefined when it is larger than the collector converts. */
function schemaOfInputs(
  collector: SchemaCollector,
  parameters: readonly (DocumentParameter & { input: string })[],
  body: ReturnType<typeof jsonContent>,
): JsonSchema | undefined {
  try {
    const properties = parameters.map(({ input, schema, description }): [string, JsonSchema] => [
      input,
      { ...collector.convert(schema.value, schema.steps), ...(description === '' ? {} : { description }) },
    ]);
    if (body) properties.push(['body', collector.convert(body.schema.value, body.schema.steps)]);
    const required = [
      ...parameters.filter((each) => each.required).map(({ input }) => input),
      ...(body?.required ? ['body'] : []),
    ];
    const definitions = collector.definitions();
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
      ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}),
    };
  } catch (error) {
    if (error instanceof TooMuchSchema) return undefined;
    throw error;
  }
}

/** Reads the requested endpoints from a parsed document. */
export function importEndpoints(document: unknown, request: ImportRequest): ImportResult {
  const faults: DocumentFault[] = [];
  const endpoints: ImportedEndpoint[] = [];
  const note = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof BadDocument)) throw error;
      faults.push(error.fault);
    }
  };
  if (!isFields(document))
    return { endpoints, faults: [{ field: 'openapi', steps: [], message: 'must be an OpenAPI document' }] };
  if (!/^3\.\d+\.\d+/.test(String(document.openapi))) {
    return { endpoints, faults: [{ field: 'openapi', steps: ['openapi'], message: 'must be version 3 of OpenAPI' }] };
  }
  let server = '';
  note(() => {
    server = serverOf(document, request.baseUrl, 'address' in request.source ? request.source.address : undefined);
  });
  const candidates = candidatesOf(document);
  for (const [index, wanted] of request.wanted.entries()) {
    const [candidate, another] = candidates.get(wanted) ?? [];
    if (candidate === undefined || another !== undefined) {
      const message =
        another === undefined ? 'is no operationId of the document' : 'is an operationId that the document uses twice';
      faults.push({ field: 'operations', steps: [index], message });
      continue;
    }
    note(() => endpoints.push(importEndpoint(document, candidate, server, request)));
  }
  return { endpoints, faults };
}
