import { ConnectionError, GuildhallError } from '../sdk/index.ts';

/** A refusal is final: what is sent next time is another request. */
export function isRefusal(error: unknown): boolean {
  return error instanceof GuildhallError && error.status < 500;
}

/** Errors after which nothing else can succeed. */
export function isEnd(error: unknown): boolean {
  if (error instanceof GuildhallError) return error.status === 401 || error.status === 403;
  return error instanceof ConnectionError;
}
