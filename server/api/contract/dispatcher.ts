import { setImmediate } from 'node:timers/promises';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { OpenAPIBackend } from 'openapi-backend';
import { createRequestAjv } from '../../../core/ajv.ts';
import type { OpenApiDocument } from '../../../core/document.ts';
import { type ApiError, fault, invalid } from '../../../core/errors.ts';
import { withNamesOfSchemas } from '../../../core/namedSchemas.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Handler, Handlers, UploadedFile } from '../../../handlers/handler.ts';
import type { Form } from '../upload.ts';
import type { DocumentedOperation } from './document.ts';
import { toDetails, type ValidationError } from './errorDetails.ts';
import { formOf, formVariant } from './form.ts';
import type { Match } from './matcher.ts';

/** A matched request before validation. */
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

/** Runs the handler of a valid request and sends its answer. */
export type Responder = (request: ValidRequest, handler: Handler<OperationId>) => Promise<unknown>;

/** Validates requests and calls their handlers. */
export interface Dispatcher {
  readonly operations: readonly DocumentedOperation[];
  /**
   * Checks the request against its operation and passes it on with the operation's handler. Throws what `respond` throws,
   * VALIDATION_ERROR, or NOT_IMPLEMENTED for a valid request to an operation without a handler.
   */
  handle(request: ContractRequest, respond: Responder): Promise<void>;
  /**
   * Compiles the validators of all operations, one after the other between requests: together they take longer than the
   * rest of the start. An operation that is called before its turn comes is compiled then. Rejects when one does not compile.
   */
  warmUp(): Promise<void>;
}

/** What openapi-backend passes on to the registered handler, beside the request. */
interface Call {
  respond: Responder;
  file: UploadedFile | undefined;
}

/** Starts openapi-backend with the document and registers the handlers. Throws when a reference in the document leads nowhere. */
export async function createDispatcher(document: OpenApiDocument, handlers: Handlers): Promise<Dispatcher> {
  const api = new OpenAPIBackend({
    definition: withNamesOfSchemas(document) as never,
    // quick: openapi-backend knows only the OpenAPI 3.0 schema; the document is linted with its own rules instead.
    quick: true,
    strict: true,
    coerceTypes: true,
    customizeAjv: ajvFactory(),
  });
  await api.init();
  // The server has authenticated the request before it is dispatched: without requirements openapi-backend skips a round of promises
  // that costs more than validation.
  const documented = api.router.getOperations() as DocumentedOperation[];
  const operations = documented.map((operation) => ({ ...operation, security: [], form: formOf(operation) }));
  const forms = new Map(operations.flatMap((each) => (each.form ? [[each.operationId, formVariant(each)]] : [])));
  const validated = [...operations, ...forms.values()];
  // The server has matched and parsed the request already (authentication needs the operation before the body is
  // read); openapi-backend would do both again, several times a request.
  api.router.getOperations = () => validated as never;
  api.router.matchOperation = ((request: { operation: DocumentedOperation }) => request.operation) as never;
  api.router.parseRequest = ((request: unknown) => request) as never;

  const refuse = (error: ApiError) => () => {
    throw error;
  };
  api.register({
    notFound: refuse(fault('NOT_FOUND')),
    methodNotAllowed: refuse(fault('METHOD_NOT_ALLOWED')),
    notImplemented: refuse(fault('NOT_IMPLEMENTED')),
    unauthorizedHandler: refuse(fault('MISSING_API_KEY')),
    validationFail: ({ validation }) => {
      throw fault('VALIDATION_ERROR', undefined, {
        details: toDetails((validation.errors ?? []) as ValidationError[]),
      });
    },
  });
  for (const [operationId, handler] of Object.entries(handlers) as [OperationId, Handler<OperationId>][]) {
    api.register(operationId, ({ request: { params, query, requestBody } }, { respond }: Call) =>
      respond({ operationId, path: params, query, body: requestBody }, handler),
    );
    const form = forms.get(operationId);
    if (!form) continue;
    api.register(form.operationId, ({ request: { params, query, requestBody } }, { respond, file }: Call) => {
      const { file: _present, ...fields } = requestBody;
      // The schema requires the file.
      const upload = { file: file as UploadedFile, fields };
      return respond({ operationId, path: params, query, body: undefined, upload }, handler);
    });
  }
  return {
    operations,
    async handle({ match: { operation: matched, params }, query, headers, body, form }, respond) {
      checkNumbers(matched, { path: params, query });
      const operation = (form && forms.get(matched.operationId)) ?? matched;
      // To the schema a file is any string: it checks that there is one.
      const requestBody = form ? { ...form.fields, ...(form.file && { file: '' }) } : body;
      const { method, path } = operation;
      const request = { method, path, operation, params, query, headers, cookies: {}, body: requestBody, requestBody };
      const call: Call = { respond, file: form?.file };
      await api.handleRequest(request as never, call);
    },
    async warmUp() {
      for (const { operationId } of validated) {
        api.validator.getRequestValidatorsForOperation(operationId);
        await setImmediate();
      }
    },
  };
}

/** Returns the same Ajv for each context: openapi-backend asks for one per schema, and making one costs more than the schema. */
function ajvFactory(): (original: unknown, options: unknown, context: unknown) => never {
  const made = new Map<string, Ajv2020>();
  return (_original, options, context) => {
    const key = String(context);
    const ajv = made.get(key) ?? createRequestAjv({ ...(options as object), useDefaults: true, verbose: true });
    made.set(key, ajv);
    return ajv as never;
  };
}

/** Numbers in paths and queries are plain decimal: Ajv's coercion would also take `0x10`, `1e9` and blanks. */
function checkNumbers(operation: DocumentedOperation, parts: Record<string, Record<string, unknown>>): void {
  for (const { name, in: where, schema } of operation.parameters ?? []) {
    const value = schema?.type === 'integer' ? parts[where]?.[name] : undefined;
    if (typeof value !== 'string' || /^-?\d+$/.test(value)) continue;
    throw invalid(`/${where}/${name}`, 'must be a whole number', 'type');
  }
}
