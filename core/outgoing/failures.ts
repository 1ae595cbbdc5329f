/**
 * The request was not made, or a redirect was not followed, because a rule of this service forbids it. The message is fit
 * for the person who chose the address; it names at most the host that they gave, never what the host resolves to.
 */
export class OutgoingRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OutgoingRefused';
  }
}

/** The kind of failure, for callers that handle a size or time limit differently. */
export type OutgoingFailure = 'timeout' | 'too_large' | 'dns' | 'connect' | 'tls' | 'redirect' | 'protocol';

/** The address is allowed, but no usable response came from it. The message is fit for the person who chose the address. */
export class OutgoingFailed extends Error {
  readonly reason: OutgoingFailure;

  constructor(reason: OutgoingFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OutgoingFailed';
    this.reason = reason;
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;

/**
 * Puts an error of the socket, TLS or HTTP parser into words. Node's own messages carry the resolved address
 * (`connect ECONNREFUSED 10.0.0.5:80`), so the text is made from the error code alone; the error itself stays the cause.
 */
export function asFailure(error: unknown, host: string): OutgoingRefused | OutgoingFailed {
  if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) return error;
  const code = codeOf(error);
  if (TLS_CODES.test(code)) {
    return new OutgoingFailed('tls', `No secure connection to ${host} could be made (${code}).`, error);
  }
  switch (code) {
    case 'ECONNREFUSED':
      return new OutgoingFailed('connect', `${host} refused the connection.`, error);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return new OutgoingFailed('connect', `${host} cannot be reached.`, error);
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new OutgoingFailed('timeout', `${host} did not accept the connection in time.`, error);
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return new OutgoingFailed('connect', `${host} closed the connection before the response was complete.`, error);
    case 'UND_ERR_INVALID_ARG':
      return new OutgoingFailed('protocol', 'The method or a header of the request is not valid in HTTP.', error);
    default:
      return new OutgoingFailed('protocol', `The response of ${host} is not valid HTTP.`, error);
  }
}
