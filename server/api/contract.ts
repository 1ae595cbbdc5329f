import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { AnySchemaObject, FuncKeywordDefinition, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { OpenAPIBackend } from 'openapi-backend';
import { type ApiError, type ErrorDetail, fault, invalid } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { UploadedFile } from '../../handlers/handler.ts';
import { createMatcher, type Match } from './matcher.ts';
import type { Form, FormShape } from './upload.ts';

const addFormats = addFormatsModule.default;

/** What the document says of an operation, references resolved; only what the server reads of it is typed. */
export interface DocumentedOperation {
  operationId: OperationId;
  method: string;
  path: string;
  parameters?: { name: string; in: string; schema?: { type?: unknown } }[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, { content?: Record<string, { schema?: object }> }>;
  /** What its form may hold, if it takes one; read from `requestBody`. */
  form?: FormShape;
}

interface MediaType {
  schema?: { properties?: Record<string, { 'x-max-bytes'?: number }> };
  encoding?: Record<string, { contentType?: string }>;
}

/** A request as the contract sees it, before validation. */
export interface ContractRequest {
  match: Match<DocumentedOperation>;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  /** The JSON body; undefined when there is none, or a form instead. */
  body: unknown;
  form: Pick<Form, 'file' | 'fields'> | undefined;
}

/** A request that has passed its schema: defaults filled in, path and query coerced to their types. */
export interface ValidRequest {
  operationId: OperationId;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  upload?: { file: UploadedFile; fields: Record<string, unknown> };
}

/** What is to be done with a valid request. */
export type Run = (request: ValidRequest) => Promise<void>;

/** The document at work: routes, validates and dispatches by operationId. */
export interface Contract {
  /** The bundled document that it was made from. */
  readonly document: object;
  readonly operations: readonly DocumentedOperation[];
  match(method: string, path: string): Match<DocumentedOperation>;
  /** Checks the request against its operation and hands it to `run`; throws the contract's errors. */
  handle(request: ContractRequest, run: Run): Promise<void>;
  /**
   * Compiles the validators of all operations, one after the other between requests: together they take longer than the
   * rest of the start. An operation that is called before its turn comes is compiled then. Rejects when one does not compile.
   */
  warmUp(): Promise<void>;
  /** What is wrong with an answer by the document, or undefined. A status that it does not list is wrong. */
  checkResponse(operation: DocumentedOperation, status: number, body: unknown): string | undefined;
}

interface AjvFault {
  instancePath: string;
  keyword: string;
  message?: string;
  params?: Record<string, unknown>;
}

/** How openapi-backend names the parts of a request, and how error details do. */
const PARTS: Record<string, string> = { requestBody: 'body', query: 'query', path: 'path', header: 'header' };

function toDetails(faults: readonly AjvFault[]): ErrorDetail[] {
  // `if` only says that `then` failed; what failed in it is there as well.
  const telling = faults.filter(({ keyword }) => keyword !== 'if');
  return telling.slice(0, 50).map(({ instancePath, keyword, message, params }) => {
    const [part = '', ...rest] = instancePath.split('/').slice(1);
    const missing = keyword === 'required' ? String(params?.missingProperty ?? '') : '';
    const extra = params?.additionalProperty ?? params?.unevaluatedProperty;
    const tail = extra === undefined ? missing : String(extra);
    if (part === '') return { path: '/body', message: missing ? 'is required' : (message ?? 'is not valid'), keyword };
    const path = ['', PARTS[part] ?? part, ...rest, ...(tail ? [pointerStep(tail)] : [])].join('/');
    if (extra !== undefined) return { path, message: 'is not a known field', keyword };
    if (missing) return { path, message: 'is required', keyword };
    const allowed = params?.allowedValues;
    return {
      path,
      message: Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : (message ?? 'is not valid'),
      keyword,
    };
  });
}

/** Numbers in paths and queries are plain decimal: Ajv's coercion would also take `0x10`, `1e9` and blanks. */
function checkNumbers(operation: DocumentedOperation, parts: Record<string, Record<string, unknown>>): void {
  for (const { name, in: where, schema } of operation.parameters ?? []) {
    const value = schema?.type === 'integer' ? parts[where]?.[name] : undefined;
    if (typeof value !== 'string' || /^-?\d+$/.test(value)) continue;
    throw invalid(`/${where}/${name}`, 'must be a whole number', 'type');
  }
}

/** The value as text, equal for values that JSON Schema calls equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * `uniqueItems` in linear time: Ajv's own compares each pair of objects, and goes on even where `maxItems` has failed
 * already, so one small body could keep the process busy for half a minute.
 */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (unique: boolean, items: unknown[], parent?: AnySchemaObject) =>
    !unique ||
    items.length > Number(parent?.maxItems ?? Infinity) ||
    new Set(items.map(canonical)).size === items.length,
  error: { message: 'must NOT have duplicate items' },
};

/** An Ajv of this document's dialect and formats. */
function createAjv(options: object = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // The document is linted: checking each schema against the schema of schemas would compile that one first.
    validateSchema: false,
    // Unoptimised code: optimising it takes a third of the compile time at start and is not to be felt afterwards.
    code: { optimize: false },
    ...options,
  });
  addFormats(ajv);
  // ajv-formats also takes `urn:uuid:…`, which PostgreSQL does not.
  ajv.addFormat('uuid', { type: 'string', validate: isUuid });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword(uniqueItems);
  return ajv;
}

/** One Ajv a context: openapi-backend asks for one per schema, and making one costs more than the schema. */
function ajvFactory(): (_original: unknown, options: unknown, context: unknown) => never {
  const made = new Map<string, Ajv2020>();
  return (_original, options, context) => {
    const key = String(context);
    const ajv = made.get(key) ?? createAjv({ ...(options as object), useDefaults: true });
    made.set(key, ajv);
    return ajv as never;
  };
}

/**
 * Checks answers against their schemas. Equal schemas are compiled once: operations share their errors, and openapi-backend would
 * compile those of every status again for each operation.
 */
function createResponseCheck(): (operation: DocumentedOperation, status: number, body: unknown) => string | undefined {
  const ajv = createAjv();
  const validators = new Map<string, ValidateFunction>();
  const known = new Map<object, ValidateFunction>();

  function validatorOf(schema: object): ValidateFunction {
    const text = JSON.stringify(schema);
    const validate = validators.get(text) ?? ajv.compile(schema);
    validators.set(text, validate);
    known.set(schema, validate);
    return validate;
  }

  return (operation, status, body) => {
    const response = operation.responses[status];
    if (!response) return `status ${status} is not documented`;
    const schema = response.content?.['application/json']?.schema;
    if (!schema) return undefined;
    const validate = known.get(schema) ?? validatorOf(schema);
    return validate(body) ? undefined : JSON.stringify(validate.errors?.slice(0, 3));
  };
}

const MULTIPART = 'multipart/form-data';

/** What the form of an operation may hold. Throws when the document does not say how large its file may be. */
function formOf({ operationId, requestBody }: DocumentedOperation): FormShape | undefined {
  const form = requestBody?.content[MULTIPART];
  if (!form) return undefined;
  const { file, ...others } = form.schema?.properties ?? {};
  const maxBytes = file?.['x-max-bytes'];
  if (!maxBytes) throw new Error(`The part file of ${operationId} has no x-max-bytes.`);
  const isJson = (name: string) => form.encoding?.[name]?.contentType === 'application/json';
  return { maxBytes, parts: new Map(Object.keys(others).map((name) => [name, isJson(name) ? 'json' : 'text'])) };
}

/** The operation with its form alone: openapi-backend validates every body of an operation that takes JSON as JSON. */
function withFormAlone(operation: DocumentedOperation): DocumentedOperation {
  const { requestBody, operationId } = operation;
  const content = { [MULTIPART]: requestBody?.content[MULTIPART] ?? {} };
  return { ...operation, operationId: `${operationId}:form` as OperationId, requestBody: { ...requestBody, content } };
}

const DOCUMENT = new URL('../../generated/openapi.json', import.meta.url);

/** Starts the contract from the bundled document. Throws when a reference in it leads nowhere. */
export async function createContract(): Promise<Contract> {
  const definition = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as object;
  const api = new OpenAPIBackend({
    definition: definition as never,
    // quick: openapi-backend knows only the OpenAPI 3.0 schema; the document is linted with its own rules instead.
    quick: true,
    strict: true,
    coerceTypes: true,
    customizeAjv: ajvFactory(),
  });
  await api.init();
  // Authentication is over before a request comes here (`run` knows whose it is): without requirements
  // openapi-backend skips a round of promises that costs more than validation.
  const documented = api.router.getOperations() as unknown as DocumentedOperation[];
  const operations = documented.map((operation) => ({ ...operation, security: [], form: formOf(operation) }));
  const forms = new Map(operations.flatMap((each) => (each.form ? [[each.operationId, withFormAlone(each)]] : [])));
  const validated = [...operations, ...forms.values()];
  const match = createMatcher(operations);
  // The server has matched and parsed the request once already (authentication needs the operation before the body is
  // read); openapi-backend would do both again, several times a request.
  const byRequest = (request: unknown) => (request as { operation: DocumentedOperation }).operation;
  api.router.getOperations = () => validated as never;
  api.router.matchOperation = ((request: unknown) => byRequest(request)) as never;
  api.router.parseRequest = ((request: unknown) => request) as never;

  const refuse = (error: ApiError) => () => {
    throw error;
  };
  api.register({
    notFound: refuse(fault('NOT_FOUND')),
    methodNotAllowed: refuse(fault('METHOD_NOT_ALLOWED')),
    notImplemented: refuse(fault('NOT_IMPLEMENTED')),
    unauthorizedHandler: refuse(fault('MISSING_API_KEY')),
    validationFail: (context) => {
      throw fault('VALIDATION_ERROR', undefined, {
        details: toDetails((context.validation.errors ?? []) as AjvFault[]),
      });
    },
  });
  for (const { operationId } of validated) {
    api.register(operationId, (context, run: Run) =>
      run({
        operationId,
        path: context.request.params as Record<string, unknown>,
        query: context.request.query as Record<string, unknown>,
        body: context.request.requestBody,
      }),
    );
  }
  return {
    document: definition,
    operations,
    match,
    async handle(request, run) {
      const { params, operation: matched } = request.match;
      checkNumbers(matched, { path: params, query: request.query });
      const { file, fields } = request.form ?? {};
      const operation = (request.form && forms.get(matched.operationId)) ?? matched;
      // To the schema a file is any string: it sees whether there is one.
      const body = request.form ? { ...fields, ...(file && { file: '' }) } : request.body;
      const runForm: Run = ({ body: form, ...valid }) => {
        const { file: _seen, ...rest } = form as Record<string, unknown>;
        const upload = { file: file as UploadedFile, fields: rest };
        return run({ ...valid, operationId: matched.operationId, body: undefined, upload });
      };
      await api.handleRequest(
        {
          method: operation.method,
          path: operation.path,
          operation,
          params,
          query: request.query,
          headers: request.headers,
          cookies: {},
          body,
          requestBody: body,
        } as never,
        request.form ? runForm : run,
      );
    },
    async warmUp() {
      for (const { operationId } of validated) {
        api.validator.getRequestValidatorsForOperation(operationId);
        await setImmediate();
      }
    },
    checkResponse: createResponseCheck(),
  };
}
