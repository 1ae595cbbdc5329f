import { ConnectionError, GuildhallError, TimeoutError } from '../../sdk/index.ts';
import { nextStep } from './nextSteps.ts';
import { placeOf, WrongArguments } from './problem.ts';
import type { ToolFailure } from './toolFailure.ts';

export { failureResult } from './toolFailure.ts';

/** More wrong places than a model reads at once. */
const MAX_DETAILS = 20;

/**
 * What a thrown error means for the model. `request` is what was sent, when something was.
 * @throws the error itself when it is none of a call: a fault of this program, or the abortion of the call
 */
export function failureOf(error: unknown, tool: string, request: string | undefined): ToolFailure {
  if (error instanceof WrongArguments) {
    return {
      code: 'INVALID_ARGUMENTS',
      message: error.message,
      details: error.problems,
      next: 'Correct these arguments and call again.',
    };
  }
  if (error instanceof GuildhallError) return answered(error, tool, request);
  if (error instanceof ConnectionError) {
    const next = 'The service may be down or its address wrong. If this goes on, ask the person who runs it.';
    return { code: 'NOT_REACHED', message: error.message, request, next };
  }
  if (error instanceof TimeoutError) {
    const next = 'Whether it was done is not known: read the present state before you call again.';
    return { code: 'NO_ANSWER_IN_TIME', message: error.message, request, next };
  }
  throw error;
}

function answered(error: GuildhallError, tool: string, request: string | undefined): ToolFailure {
  const { code, message, status, details, requestId, retryAfterSeconds } = error;
  const places = details.slice(0, MAX_DETAILS).map((each) => ({ field: fieldOf(each.path), message: each.message }));
  return {
    code,
    message,
    status,
    ...(places.length > 0 ? { details: places } : {}),
    requestId,
    retryAfterSeconds,
    request,
    next: nextStep({ code, status, retryAfterSeconds, tool }),
  };
}

/** A place of the request as the argument that gives it: `/body/name` is `body.name`, `/query/limit` is `limit`. */
function fieldOf(pointer: string): string {
  return placeOf(pointer)
    .replace(/^\.(?:path|query|header)\./, '')
    .replace(/^\./, '');
}
