import type { Kysely } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { operations } from '../generated/api.ts';
import type { DB } from '../generated/db.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** Every operation of the contract. */
export type OperationId = keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type PartOf<Id extends OperationId, Part extends 'path' | 'query'> = NonNullable<Parameters<Id>[Part]>;
type ContentOf<T> = T extends { content: infer C } ? C : undefined;
type Responses<Id extends OperationId> = operations[Id]['responses'];
type JsonOf<C> = C extends { 'application/json': infer J } ? J : C[keyof C];
type AnswerOf<R> = R extends { content: infer C } ? JsonOf<C> : undefined;

/** The operation's body after validation; `undefined` where it may be left out and was. */
export type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: infer B }
  ? JsonOf<ContentOf<B>>
  : operations[Id] extends { requestBody?: infer B }
    ? JsonOf<ContentOf<NonNullable<B>>> | undefined
    : undefined;

/** The success statuses of an operation: errors are thrown with `fault`, never replied. */
type SuccessOf<Id extends OperationId> = Extract<keyof Responses<Id>, 200 | 201 | 202 | 204>;

declare const sent: unique symbol;

/** Proof that the operation was answered as documented: only `Reply` and `openEventStream` make one. */
export interface Sent<Id extends OperationId> {
  readonly [sent]: Id;
}

/** Answers with a documented success status and exactly its body. */
export type Reply<Id extends OperationId> = <Status extends SuccessOf<Id>>(
  status: Status,
  ...body: AnswerOf<Responses<Id>[Status]> extends undefined ? [] : [body: AnswerOf<Responses<Id>[Status]>]
) => Sent<Id>;

/** A `text/event-stream` response under way. Writing to one whose client is gone does nothing. */
export interface EventStream<Id extends OperationId> {
  /** Sends one event; `data` becomes one line of JSON. */
  send(event: string, data: unknown): void;
  /** Ends the response. */
  end(): Sent<Id>;
  /** Ends the response with one `error` event, logged as any other failure is. */
  fail(error: unknown): Sent<Id>;
}

/** What a handler gets. `path`, `query` and `body` have passed the schema, defaults filled in. */
export interface Context<Id extends OperationId> {
  readonly operationId: Id;
  readonly path: PartOf<Id, 'path'>;
  readonly query: PartOf<Id, 'query'>;
  readonly body: BodyOf<Id>;
  /** The database as this workspace may see it: every other workspace's rows are out of reach. */
  readonly db: Kysely<DB>;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  readonly clock: Clock;
  readonly runtime: Runtime;
  readonly reply: Reply<Id>;
  /** Begins a `text/event-stream` answer: from here on errors are events, not statuses. */
  openEventStream(): EventStream<Id>;
}

/** One operation: reads, decides, writes, shapes the answer. Throws `fault(...)` for every error. */
export type Handler<Id extends OperationId> = (context: Context<Id>) => Promise<Sent<Id>>;

/** A handler per operation; those of a later release are absent. */
export type Handlers = { readonly [Id in OperationId]?: Handler<Id> };
