import type { OutgoingHttpHeaders } from 'node:http';
import type { FuncKeywordDefinition, ValidateFunction } from 'ajv';
import { createAjv } from '../../../core/ajv.ts';
import { namedSchemasKeyword } from '../../../core/namedSchemas.ts';
import type { DocumentedOperation } from './document.ts';

/** Says what is wrong with what an operation sends, by the document; undefined when nothing is. */
export interface ResponseCheck {
  /** A status that the document does not list is wrong. */
  checkResponse(operation: DocumentedOperation, status: number, body: unknown): string | undefined;
  /** A header that the document requires must be there, and one of ours that it does not list must not. */
  checkHeaders(operation: DocumentedOperation, status: number, headers: OutgoingHttpHeaders): string | undefined;
  /** Checks one event of a stream. An operation that the document gives no stream has no event. */
  checkEvent(operation: DocumentedOperation, event: { event: string; data: unknown }): string | undefined;
}

/** Headers of HTTP itself and of content, which OpenAPI leaves to them. */
const UNLISTED = new Set(['connection', 'content-length', 'content-type', 'x-accel-buffering']);

/** To clients these lists are open. This service knows all their values: it sends no others. */
const extensibleEnum: FuncKeywordDefinition = {
  keyword: 'x-extensible-enum',
  type: 'string',
  schemaType: 'array',
  validate: (known: string[], value: string) => known.includes(value),
  error: { message: 'must be a value that the document knows' },
};

/**
 * Makes the check of responses against their schemas. Equal schemas are compiled once: operations share their errors, and openapi-backend would
 * compile those of every status again for each operation.
 */
export function createResponseCheck(): ResponseCheck {
  const ajv = createAjv().addKeyword(extensibleEnum).addKeyword(namedSchemasKeyword);
  const validators = new Map<string, ValidateFunction>();
  const known = new Map<object, ValidateFunction>();

  function validatorOf(schema: object): ValidateFunction {
    const text = JSON.stringify(schema);
    const validate = validators.get(text) ?? ajv.compile(schema);
    validators.set(text, validate);
    known.set(schema, validate);
    return validate;
  }

  function faultOf(schema: object, value: unknown): string | undefined {
    const validate = known.get(schema) ?? validatorOf(schema);
    return validate(value) ? undefined : JSON.stringify(validate.errors?.slice(0, 3));
  }

  return {
    checkResponse(operation, status, body) {
      const response = operation.responses[status];
      if (!response) return `status ${status} is not documented`;
      const schema = response.content?.['application/json']?.schema;
      return schema && faultOf(schema, body);
    },
    checkHeaders(operation, status, headers) {
      const listed = operation.responses[status]?.headers ?? {};
      const sent = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      for (const [name, { required, schema }] of Object.entries(listed)) {
        const text = sent.get(name.toLowerCase());
        sent.delete(name.toLowerCase());
        if (text === undefined && required) return `${status} lacks ${name}`;
        const wrong = text === undefined ? undefined : faultOf(schema, schema.type === 'integer' ? Number(text) : text);
        if (wrong) return `${status} has ${name}: ${text}, ${wrong}`;
      }
      const others = [...sent.keys()].filter((name) => !UNLISTED.has(name));
      return others.length > 0 ? `${status} has ${others.join(', ')}, which the document does not list` : undefined;
    },
    checkEvent(operation, event) {
      const schema = operation.responses['200']?.content?.['text/event-stream']?.schema?.contentSchema;
      return schema ? faultOf(schema, event) : 'its response is no stream';
    },
  };
}
