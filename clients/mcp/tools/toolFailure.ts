import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Problem } from './problem.ts';

/** What a tool error says. It is JSON in the text of the result, so that a model and a program read the same. */
export interface ToolFailure {
  /** The API's code, or one of the client: `INVALID_ARGUMENTS`, `NOT_REACHED`, `NO_ANSWER_IN_TIME`. */
  code: string;
  message: string;
  status?: number | undefined;
  details?: readonly Problem[] | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  /** Method and path of the request that was sent, if one was. */
  request?: string | undefined;
  /** What to do next. */
  next?: string | undefined;
}

/** The result of a call that failed. */
export function failureResult(failure: ToolFailure): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: failure }) }] };
}
