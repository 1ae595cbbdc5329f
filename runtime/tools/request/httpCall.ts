import { REASON_PHRASES } from '../../../core/nodeHttp.ts';
import { guardedFetch, OutgoingFailed, OutgoingRefused, type OutgoingRequest } from '../../../core/outgoing.ts';
import { ToolFailure } from '../failure.ts';
import type { ToolOutcome } from '../tool.ts';
import { MAX_RESPONSE_BYTES, readResponseBody } from './response.ts';

/** One request of a tool. */
export type ToolRequest = Pick<
  OutgoingRequest,
  'method' | 'headers' | 'body' | 'secretHeaders' | 'maxRedirects' | 'allowPrivateNetwork' | 'workspaceId'
> & {
  url: string;
  timeoutSeconds: number;
  signal: AbortSignal | undefined;
};

/** Sends a request through the guarded client. Any status is an outcome. Throws ToolFailure when there is no complete response. */
export async function callHttp({ url, timeoutSeconds, signal, ...request }: ToolRequest): Promise<ToolOutcome> {
  try {
    const response = await guardedFetch(url, {
      ...request,
      timeoutMs: timeoutSeconds * 1000,
      maxBytes: MAX_RESPONSE_BYTES,
      ...(signal ? { signal } : {}),
    });
    const { status } = response;
    const name = REASON_PHRASES[status];
    return {
      statusCode: status,
      responseData: readResponseBody(response),
      errorMessage: status >= 200 && status < 300 ? null : `The server answered ${status}${name ? ` ${name}` : ''}.`,
    };
  } catch (error) {
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) {
      throw new ToolFailure(error.message, { cause: error });
    }
    throw error;
  }
}
