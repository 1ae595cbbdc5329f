import type { ErrorDetail } from '../../../core/errors.ts';
import { allowedBy, MAX_FAULTS } from '../../../core/faults.ts';
import { pointerStep } from '../../../core/jsonPointer.ts';

/** An error of Ajv (`verbose`), as openapi-backend returns it: the first step of `instancePath` is a part of the request. */
export interface ValidationError {
  instancePath: string;
  keyword: string;
  message?: string;
  params?: Record<string, unknown>;
  /** Where the keyword is in the schema of the part. */
  schemaPath?: string;
  /** The value of the keyword. */
  schema?: unknown;
}

/** The parts of a request: openapi-backend's names, and those in the details of an error. */
const PARTS: Record<string, string> = { requestBody: 'body', query: 'query', path: 'path', header: 'header' };

/** Characters of an unknown name in a detail: a request may have one of two megabytes. */
const MAX_NAME = 200;

/** The details of a VALIDATION_ERROR: at most MAX_FAULTS, each with the JSON Pointer of the value. */
export function toDetails(errors: readonly ValidationError[]): ErrorDetail[] {
  // `if` only says that `then` or `else` failed; what failed in it is in the list as well.
  const conditions = errors.filter(({ keyword }) => keyword === 'if');
  return errors
    .filter(({ keyword }) => keyword !== 'if')
    .slice(0, MAX_FAULTS)
    .map((error) => {
      const { path, message, keyword } = detailOf(error);
      return { path, message: message + conditionOf(error, conditions), keyword };
    });
}

/** On which field an error depends, in words: that of the `if` whose `then` or `else` it is in. '' when it depends on none. */
function conditionOf({ instancePath, schemaPath }: ValidationError, conditions: readonly ValidationError[]): string {
  const met = conditions.find(
    (each) =>
      instancePath.startsWith(each.instancePath) &&
      schemaPath?.startsWith(`${each.schemaPath?.replace(/if$/, String(each.params?.failingKeyword))}/`),
  );
  const fields = (met?.schema as { required?: string[] } | undefined)?.required;
  if (!fields) return '';
  return ` when ${fields.join(' and ')} is ${met?.params?.failingKeyword === 'then' ? 'given' : 'left out'}`;
}

function detailOf({ instancePath, keyword, message, params, schema }: ValidationError): ErrorDetail {
  const [part = '', ...rest] = instancePath.split('/').slice(1);
  const missing = keyword === 'required' ? String(params?.missingProperty ?? '') : '';
  const extra = params?.additionalProperty ?? params?.unevaluatedProperty;
  const tail = extra === undefined ? missing : String(extra);
  if (part === '') return { path: '/body', message: missing ? 'is required' : (message ?? 'is not valid'), keyword };
  const path = ['', PARTS[part] ?? part, ...rest, ...(tail ? [pointerStep(tail.slice(0, MAX_NAME))] : [])].join('/');
  if (extra !== undefined) return { path, message: 'is not a known field', keyword };
  if (missing) return { path, message: 'is required', keyword };
  // `not: {}` refuses whatever is there.
  if (keyword === 'not' && JSON.stringify(schema) === '{}') return { path, message: 'must be left out', keyword };
  return { path, message: allowedBy(params) ?? message ?? 'is not valid', keyword };
}
