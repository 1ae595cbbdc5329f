import { OutgoingFailed, OutgoingRefused } from '../../core/outgoing.ts';

/**
 * An MCP server that could not be used. Users see the message. It names no credential and repeats no text of the server, since
 * a server can send back the credential that it got.
 */
export class McpFailed extends Error {
  override readonly name = 'McpFailed';
  /** The HTTP status of the response, when that is the failure. */
  readonly statusCode: number | null;

  constructor(message: string, options: { statusCode?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.statusCode = options.statusCode ?? null;
  }
}

const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'The server asks for a credential, or does not accept the one that it was sent (HTTP 401).',
  403: 'The server does not allow this with the credential that it was sent (HTTP 403).',
  404: 'The server has no MCP endpoint at this address (HTTP 404).',
  405: 'The server has no MCP endpoint at this address (HTTP 405).',
  429: 'The server is asked too often (HTTP 429). Try again later.',
};

/** The failure for an HTTP status of 300 or more. */
export function statusFailure(statusCode: number, cause?: unknown): McpFailed {
  const redirect = 'The server redirects to another address, which is not followed. Use that address.';
  const text = statusCode < 400 ? redirect : `The server responds with HTTP status ${statusCode}.`;
  return new McpFailed(BY_STATUS[statusCode] ?? text, { statusCode, cause });
}

/** The failure for a server that takes too long. */
export function tooSlow(cause?: unknown): McpFailed {
  return new McpFailed('The server did not answer in time.', { cause });
}

/** The failure for a response that is not MCP. `detail` is added to the sentence. */
export function notMcp(detail = '', cause?: unknown): McpFailed {
  return new McpFailed(`The answer of the server is not valid MCP${detail}.`, { cause });
}

/** Turns whatever the SDK, the transport or the guard throws into a failure with a message for users. */
export function asMcpFailed(error: unknown): McpFailed {
  if (error instanceof McpFailed) return error;
  if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) {
    return new McpFailed(error.message, { cause: error });
  }
  const { name, code, message, data } = Object(error) as Record<string, unknown>;
  if (name === 'TimeoutError') return tooSlow(error);
  const carried = Object(data).failure as unknown;
  if (carried instanceof McpFailed) return carried;
  // Redirects that the SDK did not follow: its streamable transport has a code, the other one only a text.
  if (typeof code === 'number' && code >= 300 && code < 400) return statusFailure(code, error);
  const redirect = /^Error POSTing to endpoint \(HTTP (3\d\d)\)/.exec(String(message))?.[1];
  if (redirect !== undefined) return statusFailure(Number(redirect), error);
  if (name === 'McpError')
    return new McpFailed(`The server refuses the request (MCP error ${code}).`, { cause: error });
  if (String(message).startsWith("Server's protocol version")) return notMcp(', or of a version not known here', error);
  return notMcp('', error);
}
