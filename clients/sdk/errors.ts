import type { OperationId } from '../../generated/operations.ts';
import type { CodeOf, ErrorDetail } from './types.ts';

/** What is known of an answer that is an error. */
export interface ErrorAnswer<Id extends OperationId = OperationId> {
  status: number;
  code: CodeOf<Id>;
  message: string;
  details?: readonly ErrorDetail[] | undefined;
  requestId?: string | undefined;
  operationId?: Id | undefined;
  retryAfterSeconds?: number | undefined;
}

/** The service answered, and the answer is an error. `message` is a sentence for people; branch on `code`. */
export class GuildhallError<Id extends OperationId = OperationId> extends Error {
  override readonly name = 'GuildhallError';
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The code of the error: one of those of the operation, or `UNREADABLE_RESPONSE` when the answer is not the API's. */
  readonly code: CodeOf<Id>;
  /** Each place of the request that is wrong. Empty when the error names none. */
  readonly details: readonly ErrorDetail[];
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  readonly operationId: Id | undefined;
  /** How long the service asks to wait before the request is sent again. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, details, requestId, operationId, retryAfterSeconds }: ErrorAnswer<Id>) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details ?? [];
    this.requestId = requestId;
    this.operationId = operationId;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Whether a caught value is an error of this operation: its `code` is then one of the operation's codes, for the compiler too. */
  static of<Id extends OperationId>(error: unknown, operationId: Id): error is GuildhallError<Id> {
    return error instanceof GuildhallError && error.operationId === operationId;
  }
}

/** No answer came, or it broke off: the address, the network or a proxy is the reason. `cause` is the error of `fetch`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** The code of the system or of the HTTP client, such as `ECONNREFUSED`, where it tells one. */
  readonly code: string | undefined;

  constructor(message: string, code?: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The service did not answer in time, or fell silent in the middle of an answer. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  /** How long the request waited, in milliseconds. */
  readonly timeoutMs: number;

  constructor(origin: string, timeoutMs: number) {
    super(`${origin} did not answer within ${timeoutMs / 1000} seconds.`);
    this.timeoutMs = timeoutMs;
  }
}
