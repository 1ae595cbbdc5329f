import type { components, operations as Operations } from '../../generated/api.ts';
import type { calls } from '../../generated/calls.ts';
import type { OperationId, operations as rows } from '../../generated/operations.ts';

export type { OperationId };

/** Whether `Id` is the name of any operation, because the caller knows it only when it runs. */
type IsAny<Id> = OperationId extends Id ? true : false;

type RequiredKeys<Type> = { [Key in keyof Type]-?: object extends Pick<Type, Key> ? never : Key }[keyof Type];
/** A part of the request: may be left out when nothing in it is required, and is no part of it when there is nothing to say. */
type Part<Name extends string, Type> = [Type] extends [undefined]
  ? { [Key in Name]?: undefined }
  : RequiredKeys<Type> extends never
    ? { [Key in Name]?: Type }
    : { [Key in Name]: Type };

type ParametersOf<Id extends OperationId> = Operations[Id]['parameters'];
type BodyOf<Id extends OperationId> = Operations[Id] extends { requestBody?: infer Body } ? NonNullable<Body> : never;
type ContentOf<Id extends OperationId> = [BodyOf<Id>] extends [never]
  ? never
  : BodyOf<Id> extends { content: infer Content }
    ? Content
    : never;

/** A file to upload. A name is needed: the service reads the kind of some files from its ending. */
export interface UploadFile {
  data: Blob | Uint8Array<ArrayBuffer>;
  name: string;
  /** The media type, such as `text/markdown`. */
  type?: string | undefined;
}

/** The body of a request as `fetch` takes it. */
export type RequestBody =
  | string
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | Blob
  | FormData
  | URLSearchParams
  | ReadableStream;

type JsonBody<Id extends OperationId> =
  ContentOf<Id> extends { 'application/json': infer Body }
    ? Operations[Id] extends { requestBody: object }
      ? { body: Body }
      : { body?: Body }
    : never;
type FormBody<Id extends OperationId> =
  ContentOf<Id> extends { 'multipart/form-data': infer Form } ? { file: UploadFile } & Omit<Form, 'file'> : never;
type NoPart<Name extends string> = { [Key in Name]?: undefined };
type Body<Id extends OperationId> = [ContentOf<Id>] extends [never]
  ? NoPart<'body' | 'file' | 'metadata'>
  :
      | ([JsonBody<Id>] extends [never] ? never : JsonBody<Id> & NoPart<'file' | 'metadata'>)
      | ([FormBody<Id>] extends [never] ? never : FormBody<Id> & NoPart<'body'>);

/** What every call may say beside its parameters and its body. */
export interface CallOptions {
  /** More headers, for this call only. */
  headers?: Record<string, string> | undefined;
  /** Ends the call, also while it waits to try again: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long one attempt may take, in milliseconds; of a stream, how long it may be silent. */
  timeoutMs?: number | undefined;
  /** Is called with the last response before its body is read: for its headers and its status. */
  onResponse?: ((response: Response) => void) | undefined;
}

/** What an operation needs when its name is known only at run time, from a table for example. */
export interface AnyInput extends CallOptions {
  path?: Record<string, string | number> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
  file?: UploadFile | undefined;
  metadata?: unknown;
  idempotencyKey?: string | undefined;
}

type KeyOption<Id extends OperationId> = (typeof calls)[Id]['takesKey'] extends true
  ? {
      /** The `Idempotency-Key` of this call; a new random one when it is left out. Retries of the call repeat it. */
      idempotencyKey?: string | undefined;
    }
  : NoPart<'idempotencyKey'>;
type TypedInput<Id extends OperationId> = Part<'path', ParametersOf<Id>['path']> &
  Part<'query', ParametersOf<Id>['query']> &
  Body<Id> &
  KeyOption<Id> &
  CallOptions;

/** What an operation is called with: its parameters, its body, and the options of the call. */
export type Input<Id extends OperationId> = IsAny<Id> extends true ? AnyInput : TypedInput<Id>;

/** The second argument of a call: it can be left out when the operation needs nothing. */
export type InputArgument<Id extends OperationId> = object extends Input<Id> ? [input?: Input<Id>] : [input: Input<Id>];

type SuccessOf<Id extends OperationId> = Operations[Id]['responses'][(200 | 201 | 204) &
  keyof Operations[Id]['responses']];
type JsonOf<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;

/** The body of an operation's success; `undefined` when it has none. */
export type Output<Id extends OperationId> = IsAny<Id> extends true ? unknown : JsonOf<SuccessOf<Id>>;

type ItemOf<Json> = Json extends readonly (infer Element)[]
  ? Element
  : Json extends { items: readonly (infer Element)[] }
    ? Element
    : never;

/** The operations whose answer is a list: an array, or an object with `items`. */
export type ListOperationId = {
  [Id in OperationId]: [ItemOf<JsonOf<SuccessOf<Id>>>] extends [never] ? never : Id;
}[OperationId];

/** One element of a list. */
export type Item<Id extends OperationId> = ListOperationId extends Id ? unknown : ItemOf<JsonOf<SuccessOf<Id>>>;

/** One event of `streamMessage`, its `data` parsed. `debug-info` and `error` are the last ones. */
export type StreamEvent = components['schemas']['MessageStreamEvent'];

/** One place of a request that is wrong. */
export type ErrorDetail = components['schemas']['ErrorDetail'];

/** Every error code of the document. */
export type AnyCode = components['schemas']['ErrorCode'];

/** Codes that any request can get, whatever the operation. */
type CommonCode = 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'EXPECTATION_FAILED' | 'VALIDATION_ERROR';
/** The code of the SDK itself for an answer that is not the API's, such as the error page of a proxy. */
export type UnreadableCode = 'UNREADABLE_RESPONSE';
type DocumentedCode<Codes> = {
  [Status in keyof Codes]: Codes[Status] extends readonly (infer Code)[] ? Code : never;
}[keyof Codes];

/** The codes that an error of the operation can have. */
export type CodeOf<Id extends OperationId> =
  | (IsAny<Id> extends true ? AnyCode : DocumentedCode<(typeof rows)[Id]['errorCodes']>)
  | CommonCode
  | UnreadableCode;
