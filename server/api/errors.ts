import type { ServerResponse } from 'node:http';
import { ApiError, fault } from '../../core/errors.ts';
import { databaseFault } from '../../db/errors.ts';
import { StorageError } from '../../integrations/storage/storage.ts';
import { sendJson } from './sendJson.ts';

/** The contract's error for anything thrown: known faults as they are, states of the database and the storage mapped, the rest INTERNAL_ERROR. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageError) return fault('UNAVAILABLE', undefined, { cause: error });
  return databaseFault(error) ?? fault('INTERNAL_ERROR', undefined, { cause: error });
}

/** The body of an error answer. */
export function errorBody(error: ApiError, requestId: string) {
  return { code: error.code, message: error.message, status: error.status, requestId, details: error.details };
}

/** The one renderer: writes the error as the answer, if none has begun. */
export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  if (error.status === 503 && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '5');
  sendJson(response, error.status, errorBody(error, requestId));
}
