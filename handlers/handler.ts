import type { Kysely } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { KeyClaim } from '../db/queries/workspaces/idempotencyKeys.ts';
import type { components, operations } from '../generated/api.ts';
import type { DB } from '../generated/db.ts';
import type { OperationId } from '../generated/operations.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Runtime } from '../runtime/runtime.ts';

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type PartOf<Id extends OperationId, Part extends 'path' | 'query'> = NonNullable<Parameters<Id>[Part]>;
type ContentOf<T> = T extends { content: infer C } ? C : undefined;
type Responses<Id extends OperationId> = operations[Id]['responses'];
type JsonOf<C> = C extends { 'application/json': infer J } ? J : C[keyof C];
type AnswerOf<R> = R extends { content: infer C } ? JsonOf<C> : undefined;

type FormOf<Id extends OperationId> = operations[Id] extends { requestBody: { content: infer C } }
  ? C extends { 'multipart/form-data': infer F }
    ? F
    : never
  : never;
type JsonBody<C> =
  | (C extends { 'application/json': infer J } ? J : undefined)
  | (C extends { 'multipart/form-data': unknown } ? undefined : never);

/** The operation's JSON body after validation; `undefined` where it may be left out and was, or a form came instead. */
export type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: infer B }
  ? JsonBody<ContentOf<B>>
  : operations[Id] extends { requestBody?: infer B }
    ? JsonBody<ContentOf<NonNullable<B>>> | undefined
    : undefined;

/** A file of a form, as it came. */
export interface UploadedFile {
  /** Where its bytes are; the file is removed when the request is over. */
  readonly path: string;
  /** What the client calls it: 1 to 255 characters, no folders, no control characters, NFC. */
  readonly name: string;
  readonly sizeBytes: number;
  /** What the client says it is: believe the bytes. */
  readonly mediaType: string;
}

/** A `multipart/form-data` body after validation. */
export interface Upload<Id extends OperationId> {
  readonly file: UploadedFile;
  /** The other parts of the form, JSON parts parsed. */
  readonly fields: Omit<FormOf<Id>, 'file'>;
}

/** The operation's form; `undefined` where it takes none, or JSON came instead. */
export type UploadOf<Id extends OperationId> = [FormOf<Id>] extends [never]
  ? undefined
  : BodyOf<Id> extends undefined
    ? Upload<Id>
    : Upload<Id> | undefined;

/** The success statuses of an operation: errors are thrown with `fault`, never replied. */
type SuccessOf<Id extends OperationId> = Extract<keyof Responses<Id>, 200 | 201 | 202 | 204>;

declare const sent: unique symbol;

/** Proof that the operation was answered as documented: only `Reply` and `openEventStream` make one. */
export interface SentReply<Id extends OperationId> {
  readonly [sent]: Id;
}

/** Sends a documented success status and exactly its body. */
export type Reply<Id extends OperationId> = <Status extends SuccessOf<Id>>(
  status: Status,
  ...body: AnswerOf<Responses<Id>[Status]> extends undefined ? [] : [body: AnswerOf<Responses<Id>[Status]>]
) => SentReply<Id>;

/** A `text/event-stream` response under way. Writing to one whose client is gone does nothing. */
export interface EventStream<Id extends OperationId> {
  /** Sends one event; `data` becomes one line of JSON. */
  send(...event: StreamEvent): void;
  /** Ends the response. */
  end(): SentReply<Id>;
  /** Ends the response with one `error` event, logged as any other failure is. */
  fail(error: unknown): SentReply<Id>;
}

/** What a handler gets. `path`, `query`, `body` and `upload` have passed the schema, defaults filled in. */
export interface Context<Id extends OperationId> {
  readonly operationId: Id;
  readonly path: PartOf<Id, 'path'>;
  readonly query: PartOf<Id, 'query'>;
  readonly body: BodyOf<Id>;
  readonly upload: UploadOf<Id>;
  /** Of a request with an Idempotency-Key, for work that stores something before its answer. Everything else need not know. */
  readonly claim: KeyClaim | undefined;
  /** The database as this workspace may see it: every other workspace's rows are out of reach. */
  readonly db: Kysely<DB>;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly clock: Clock;
  readonly runtime: Runtime;
  /** Takes work for the background. */
  readonly jobs: Jobs;
  readonly reply: Reply<Id>;
  /** Sets a header of the response that the document lists, before the reply. It is kept with an answer that is kept, in 4 KB for all headers. */
  setHeader(name: string, value: string): void;
  /** Begins a `text/event-stream` answer: from here on errors are events, not statuses. */
  openEventStream(): EventStream<Id>;
}

/** What an operation does: reads, decides, writes, shapes the answer. Throws `fault(...)` for every error. */
export type Work<Id extends OperationId> = (context: Context<Id>) => Promise<SentReply<Id>>;

/**
 * An operation that needs more than the database, such as a call to another server. `prepare` does that part and returns the rest. The
 * rest only uses the database.
 */
export interface PreparedWork<Id extends OperationId> {
  prepare(context: Context<Id>): Promise<Work<Id>>;
}

/**
 * An operation that sends a message: a turn follows that outlives the request. Its answer is stored with the reply
 * (`TurnRequest.keyed`), and requests with the same Idempotency-Key get what the one that runs gets.
 */
export interface SendingWork<Id extends OperationId> {
  /** Milliseconds that a request waits for the answer of another one with its key. */
  patienceMs(context: Context<Id>): number;
  /** Of an operation that streams: the first event, for requests that wait for a turn in another process. */
  beginning?(conversationId: string): StreamEvent;
  send: Work<Id>;
}

type EventOf<T> = T extends { event: infer Name; data: infer Data } ? [name: Name, data: Data] : never;

/** An event of a `text/event-stream` answer: its name and its data, as the document has them. */
export type StreamEvent = EventOf<components['schemas']['MessageStreamEvent']>;

/**
 * One operation. A request with an Idempotency-Key runs it in one transaction with the storage of its answer, and runs it again after a
 * serialization failure: `context.db` is that transaction. So whatever waits for another server stands in `prepare`.
 */
export type Handler<Id extends OperationId> = Work<Id> | PreparedWork<Id> | SendingWork<Id>;

/** A handler per operation; those of a later release are absent. */
export type Handlers = { readonly [Id in OperationId]?: Handler<Id> };
