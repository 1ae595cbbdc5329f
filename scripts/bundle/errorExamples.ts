import { ERRORS, type ErrorCode, type ErrorDetail } from '../../core/errors.ts';
import type { Document, Example, Response } from '../../spec/rules/types.ts';
import { operationsIn } from './operationsIn.ts';

const JSON_TYPE = 'application/json';
const REQUEST_ID = '0199a3f5-8e2a-7c44-9f0e-6b1f3f1d2a77';

const UNKNOWN_FIELD = { message: 'is not a known field', keyword: 'additionalProperties' };

/** What the `details` of a code look like. The other codes are shown without any. */
const DETAILS: Partial<Record<ErrorCode, ErrorDetail[]>> = {
  IMMUTABLE_FIELD: [{ path: '/body/toolType', message: 'cannot be changed after creation', keyword: 'immutable' }],
  INVALID_TOOL_CONFIGURATION: [
    { path: '/body/configuration/url', message: 'must begin with http:// or https://', keyword: 'format' },
  ],
  VALIDATION_ERROR: [{ path: '/query/colour', ...UNKNOWN_FIELD }],
};

/** The example of VALIDATION_ERROR where the request has a body. */
const IN_BODY = {
  name: 'VALIDATION_ERROR_IN_BODY',
  details: [{ path: '/body/colour', ...UNKNOWN_FIELD }],
};

/**
 * Gives each error response one example for each code that its operation can answer, with the public text of the code. Examples and
 * responses are components that operations share: a response with other codes than those of every operation is named after its codes.
 * A code without an entry in `ERRORS`, as documents of earlier releases may have, gets no example.
 */
export function writeErrorExamples(document: Document): void {
  const written = (document.components?.responses ?? {}) as Record<string, Response>;
  const responses: Record<string, Response> = {};
  const examples: Record<string, Example> = {};
  for (const operation of operationsIn(document)) {
    const hasBody = operation.requestBody !== undefined;
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      const shared = response.$ref?.split('/').at(-1) ?? '';
      const base = written[shared];
      if (!base) continue;
      const media = base.content?.[JSON_TYPE];
      if (!media || Number(status) < 400) {
        responses[shared] = base;
        continue;
      }
      const own = operation['x-error-codes']?.[status] ?? [];
      const codes = [...new Set([...(base['x-error-codes'] ?? []), ...own])].filter(isKnown);
      const named = codes.map((code) => [code, nameOf(code, hasBody)] as const);
      for (const [code, name] of named) examples[name] ??= exampleOf(code, name);
      const refs = named.map(([code, name]) => [code, { $ref: `#/components/examples/${name}` }]);
      const content = { ...base.content, [JSON_TYPE]: { ...media, examples: Object.fromEntries(refs) } };
      const isCommon = own.length === 0 && named.every(([code, name]) => code === name);
      const component = isCommon ? shared : named.map(([, name]) => pascal(name)).join('Or') || shared;
      responses[component] = { ...base, content };
      response.$ref = `#/components/responses/${component}`;
    }
  }
  document.components = { ...document.components, responses, examples };
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function nameOf(code: ErrorCode, hasBody: boolean): string {
  return hasBody && code === 'VALIDATION_ERROR' ? IN_BODY.name : code;
}

function exampleOf(code: ErrorCode, name: string): Example {
  const details = (name === IN_BODY.name ? IN_BODY.details : DETAILS[code]) ?? [];
  return { value: { code, ...ERRORS[code], requestId: REQUEST_ID, details } };
}

/** `AgentNotFound` for `AGENT_NOT_FOUND`. */
function pascal(name: string): string {
  return name.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
