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

/** An MCP server that wants a login by OAuth, which the service does not make. */
export class McpWantsOAuth extends McpFailed {
  constructor(statusCode: number, wasSentCredential: boolean) {
    const refusal = wasSentCredential
      ? 'The server does not accept the credential that it was sent, and'
      : 'The server';
    super(
      `${refusal} asks for a login by OAuth (HTTP ${statusCode}), which this service does not make. Get an access token or an API key ` +
        'from whoever runs the server, and enter it as the credential of the server: authType BEARER_TOKEN, API_KEY or CUSTOM_HEADER.',
      { statusCode },
    );
  }
}

const CHECK_PATH = 'Check the path, which is often /mcp or /sse.';
const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'The server asks for a credential, or does not accept the one that it was sent (HTTP 401).',
  403: 'The server does not allow this with the credential that it was sent (HTTP 403).',
  404: `The server has no MCP endpoint at this address (HTTP 404). ${CHECK_PATH}`,
  405: `The server has no MCP endpoint at this address (HTTP 405). ${CHECK_PATH}`,
  429: 'The server is asked too often (HTTP 429). Try again later.',
};

/** The failure for an HTTP status of 300 or more. */
export function statusFailure(statusCode: number, cause?: unknown, hasCredential = true): McpFailed {
  if (statusCode === 403 && !hasCredential) {
    const message =
      'The server does not allow this without a credential, or not under this host name (HTTP 403). ' +
      'Enter a credential, or the host name that the server itself is set to.';
    return new McpFailed(message, { statusCode, cause });
  }
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

/** The failure for a server that broke off. */
export function brokeOff(cause?: unknown): McpFailed {
  return new McpFailed('The server closed the connection.', { cause });
}

/** https://www.jsonrpc.org/specification#error_object */
export const METHOD_NOT_FOUND = -32601;
/** UnsupportedProtocolVersion (https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle). */
export const UNSUPPORTED_VERSION = -32022;
const MAX_NAMED_VERSIONS = 5;

/** The failure for a server that speaks revisions which this service does not know. Dates can carry no credential. */
function unknownVersion(fault: ProtocolFault): McpFailed {
  const { supported } = Object(fault.data) as { supported?: unknown };
  const dates = (Array.isArray(supported) ? supported : []).filter(
    (each) => typeof each === 'string' && /^\d{4}-\d\d-\d\d$/.test(each),
  );
  const named = dates.slice(0, MAX_NAMED_VERSIONS).join(', ') || 'it does not say which';
  const message = `The server speaks only revisions of MCP that are not known here (${named}). Known are 2026-07-28 and before.`;
  return new McpFailed(message, { cause: fault });
}

/** A JSON-RPC error of a server: the SDK's ProtocolError, whose code is a number. */
export interface ProtocolFault extends Error {
  code: number;
  data?: unknown;
}

/** Whether an error is one that the server returned in answer to a request. */
export function isProtocolFault(error: unknown): error is ProtocolFault {
  const { code, data } = Object(error) as Record<string, unknown>;
  // SseError has a number too: the HTTP status.
  const isSse = Object(error).constructor?.name === 'SseError';
  // And so has the reason of a signal that was aborted.
  const isOther = isSse || error instanceof DOMException;
  return Error.isError(error) && typeof code === 'number' && !isOther && !(Object(data).failure instanceof McpFailed);
}

/** Turns whatever the SDK, the transport or the guard throws into a failure with a message for users. */
export function asMcpFailed(error: unknown): McpFailed {
  if (error instanceof McpFailed) return error;
  if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) {
    return new McpFailed(error.message, { cause: error });
  }
  const { name, code, message, data, cause } = Object(error) as Record<string, unknown>;
  if (name === 'TimeoutError' || code === 'REQUEST_TIMEOUT') return tooSlow(error);
  const carried = Object(data).failure as unknown;
  if (carried instanceof McpFailed) return carried;
  // Before its data is read, which is the server's: it may have a status too.
  if (isProtocolFault(error)) {
    return error.code === UNSUPPORTED_VERSION
      ? unknownVersion(error)
      : new McpFailed(`The server refuses the request (MCP error ${code}).`, { cause: error });
  }
  if (cause instanceof McpFailed || cause instanceof OutgoingRefused || cause instanceof OutgoingFailed) {
    return asMcpFailed(cause);
  }
  // SdkHttpError: a status that the transport was shown. Redirects that it did not follow are among them.
  const status = Object(data).status as unknown;
  if (typeof status === 'number' && status >= 300) return statusFailure(status, error);
  // The transport of the older protocol has only a text for them.
  const redirect = /^Error POSTing to endpoint \(HTTP (3\d\d)\)/.exec(String(message))?.[1];
  if (redirect !== undefined) return statusFailure(Number(redirect), error);
  if (code === 'CONNECTION_CLOSED') return brokeOff(error);
  if (/^text\/html\b/.test(String(Object(data).contentType))) {
    return new McpFailed(`The server answers with a web page, which is not MCP. ${CHECK_PATH}`, { cause: error });
  }
  if (String(message).startsWith("Server's protocol version")) return notMcp(', or of a version not known here', error);
  return notMcp('', error);
}
