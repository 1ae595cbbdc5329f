import type { WrittenAs } from '../../../db/stored/importedEndpoint.ts';
import { BadDocument, type Fields, type Located, objectAt } from './document.ts';
import type { Candidate } from './operations.ts';

/** Whether a document is Swagger 2.0, which YAML may read as a number. */
export function isSwagger2(document: Fields): boolean {
  return /^2(?:\.0)?$/.test(String(document.swagger));
}

/** `host`, `basePath` and `schemes` as the servers of OpenAPI 3: https where the document has it. Without a host it is that of the document. */
export function serversOfSwagger2({ host, basePath, schemes }: Fields): Fields[] {
  const path = typeof basePath === 'string' ? basePath : '/';
  if (typeof host !== 'string' || host === '') return [{ url: path }];
  const listed: unknown[] = Array.isArray(schemes) ? schemes : [];
  const scheme = listed.includes('https') || !listed.includes('http') ? 'https' : 'http';
  return [{ url: `${scheme}://${host}${path.startsWith('/') ? path : `/${path}`}` }];
}

/** Fields of a parameter that are no part of its schema. */
const NOT_SCHEMA = new Set([
  'name',
  'in',
  'description',
  'required',
  'collectionFormat',
  'allowEmptyValue',
  'schema',
  '$ref',
]);

/** How the lists of a `collectionFormat` are written (Swagger 2.0, Parameter Object). */
const LISTS: Readonly<Record<string, WrittenAs>> = {
  csv: { style: 'form', explode: false },
  ssv: { style: 'spaceDelimited', explode: false },
  tsv: { style: 'tabDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
  multi: { style: 'form', explode: true },
};

/**
 * The operation as OpenAPI 3 describes it: parameters with schemas, and those of the body as a `requestBody`. Its schemas go on referring to
 * `#/definitions/…` of the document. Throws BadDocument.
 */
export function asOpenApi3(document: Fields, candidate: Candidate): Candidate {
  const { item, operation } = candidate;
  const byPlace = new Map<string, Located<Fields>>();
  for (const { value, steps } of [item, operation]) {
    for (const [index, each] of (Array.isArray(value.parameters) ? value.parameters : []).entries()) {
      const located = objectAt(document, { value: each, steps: [...steps, 'parameters', index] });
      byPlace.set(`${located.value.in} ${located.value.name}`, located);
    }
  }
  const found = [...byPlace.values()];
  const parameters = found.filter(({ value }) => value.in !== 'body' && value.in !== 'formData').map(asParameter);
  const requestBody = bodyOfSwagger2(document, operation.value, found);
  const { parameters: _own, ...rest } = operation.value;
  const { parameters: _shared, ...restOfItem } = item.value;
  return {
    ...candidate,
    item: { ...item, value: restOfItem },
    operation: { ...operation, value: { ...rest, parameters, ...(requestBody ? { requestBody } : {}) } },
  };
}

function schemaOf(parameter: Fields): Fields {
  return Object.fromEntries(Object.entries(parameter).filter(([key]) => !NOT_SCHEMA.has(key)));
}

/** How a list is written; undefined for other values. */
function listOf({ value, steps }: Located<Fields>): WrittenAs | undefined {
  if (value.type !== 'array') return undefined;
  const format = String(value.collectionFormat ?? 'csv');
  const written = Object.hasOwn(LISTS, format) ? LISTS[format] : undefined;
  const isPair = value.in === 'query' || value.in === 'formData';
  if (written && (isPair || format !== 'multi')) return written;
  const allowed = Object.keys(LISTS).filter((each) => isPair || each !== 'multi');
  throw new BadDocument(`must be one of ${allowed.join(', ')}`, [...steps, 'collectionFormat']);
}

function asParameter(located: Located<Fields>): Fields {
  const { name, in: where, description, required, deprecated } = located.value;
  const written = listOf(located);
  return {
    name,
    in: where,
    description,
    required,
    deprecated,
    schema: schemaOf(located.value),
    // In paths and headers the list with commas is the style `simple`.
    ...(written && (where === 'query' || written.style !== 'form') ? written : {}),
  };
}

function bodyOfSwagger2(document: Fields, operation: Fields, found: readonly Located<Fields>[]): Fields | undefined {
  const listed = Array.isArray(operation.consumes) ? operation.consumes : document.consumes;
  const consumes = (Array.isArray(listed) ? listed : []).filter((type) => typeof type === 'string');
  const body = found.find(({ value }) => value.in === 'body')?.value;
  if (body) {
    const types = consumes.length > 0 ? consumes : ['application/json'];
    return {
      required: body.required === true,
      content: Object.fromEntries(types.map((type) => [type, { schema: body.schema }])),
    };
  }
  const fields = found.filter(({ value }) => value.in === 'formData');
  if (fields.length === 0) return undefined;
  const hasFile = fields.some(({ value }) => value.type === 'file');
  const isMultipart = hasFile || (consumes.includes('multipart/form-data') && !consumes.some(isUrlencoded));
  const required = fields.filter(({ value }) => value.required === true).map(({ value }) => value.name);
  const encoding = fields.flatMap((field) => {
    const written = listOf(field);
    return written ? [[String(field.value.name), written] as const] : [];
  });
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ value }) => [String(value.name), fieldSchema(value)])),
    ...(required.length > 0 ? { required } : {}),
  };
  const type = isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  return {
    required: required.length > 0,
    content: { [type]: { schema, encoding: Object.fromEntries(encoding) } },
  };
}

function isUrlencoded(type: string): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(type);
}

function fieldSchema(field: Fields): Fields {
  const description = typeof field.description === 'string' ? { description: field.description } : {};
  if (field.type === 'file') return { type: 'string', format: 'binary', ...description };
  return { ...schemaOf(field), ...description };
}
