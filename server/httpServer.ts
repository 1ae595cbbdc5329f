import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ApiError, fault } from '../core/errors.ts';
import { createNodeServer } from '../core/nodeHttp.ts';
import { answerClientError, endWithError } from './api/clientError.ts';
import { sendError } from './api/errors.ts';
import { identify } from './api/identify.ts';
import { sendJson } from './api/sendJson.ts';

/** A client behind a proxy reuses idle connections: outlive the proxy's own patience (60 s is usual). */
const KEEP_ALIVE_MS = 65_000;
const SWEEP_MS = 50;
/** A client that asked for a tunnel closes its connection within this time, or it is closed. */
const CONNECT_END_MS = 1_000;
/** Scheme and authority of an address in absolute form (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** The port of the service. What Node would answer by itself has the service's own form. */
export interface HttpServer {
  /** Takes connections and returns the port; rejects with Node's own error. Until `handle` is called, the service is alive and not ready. */
  listen(port: number, host: string): Promise<number>;
  /** From now on, `listener` answers. */
  handle(listener: RequestListener): void;
  /** From now on, each answer says that its connection ends, and ends it. New connections are still taken. */
  drain(): void;
  /** Closes the port, and each connection as soon as nothing is answered on it. Settles when the last one is closed. */
  close(): Promise<void>;
  /** Ends every connection, whatever is answered on it. */
  cut(): void;
}

/** Makes the server; `options` are for tests. */
export function createHttpServer(options: ServerOptions = {}): HttpServer {
  let listener: RequestListener = notReadyYet;
  let draining = false;
  const answers = new Set<ServerResponse>();
  /** The last answer that each connection waits for: requests may come one after the other without a wait. */
  const last = new Map<Socket, ServerResponse>();

  function begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const earlier = last.get(socket);
    answers.add(response);
    last.set(socket, response);
    response.once('close', () => {
      answers.delete(response);
      if (last.get(socket) === response) last.delete(socket);
    });
    if (!draining) return;
    // Node would handle this request, and end the connection after the earlier answer.
    if (earlier && !earlier.headersSent) earlier.removeHeader('Connection');
    response.setHeader('Connection', 'close');
  }

  // Node's own answer to a missing Host has no body; hostFault() has one.
  const server = createNodeServer({ keepAliveTimeout: KEEP_ALIVE_MS, ...options, requireHostHeader: false });
  server.on('request', (request, response) => {
    begin(request, response);
    const wrong = hostFault(request);
    if (wrong) return refuse(request, response, wrong);
    request.url = toOriginForm(request.url ?? '');
    listener(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    begin(request, response);
    refuse(request, response, fault('EXPECTATION_FAILED'));
  });
  server.on('clientError', (error, socket) => {
    // What has been sent of an answer cannot be taken back: an error would stand in its middle.
    if ([...answers].some((answer) => answer.socket === socket && answer.headersSent)) socket.destroy();
    else answerClientError(error, socket);
  });
  server.on('connect', (_request, socket: Socket) => {
    // Node leaves this connection to us, and with it its errors and its end: a reset would end the process.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(CONNECT_END_MS, () => socket.destroy());
    endWithError(socket, fault('VALIDATION_ERROR', 'This is no proxy: there is no CONNECT.'));
    socket.resume();
  });

  return {
    async listen(port, host) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      });
      return (server.address() as AddressInfo).port;
    },
    handle(next) {
      listener = next;
    },
    drain() {
      draining = true;
      for (const answer of last.values()) if (!answer.headersSent) answer.setHeader('Connection', 'close');
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // An answer that ends now leaves its connection open for the next request; and to Node a connection that never sent one,
      // as browsers open them in advance, is not idle.
      const sweep = setInterval(() => {
        if (answers.size === 0) server.closeAllConnections();
        else server.closeIdleConnections();
      }, SWEEP_MS);
      await closed;
      clearInterval(sweep);
    },
    cut: () => server.closeAllConnections(),
  };
}

/** Before there is a service: alive, and not ready. */
function notReadyYet(request: IncomingMessage, response: ServerResponse): void {
  const requestId = identify(request, response);
  const path = request.url?.split('?', 1)[0];
  if (path === '/livez') sendJson(response, 200, { status: 'ok' });
  else if (path === '/readyz') sendJson(response, 503, { status: 'unavailable' });
  else sendError(response, fault('UNAVAILABLE'), requestId);
}

/** Refuses a request that no route may see, and ends its connection: who sent it and who passed it on may read it differently. */
function refuse(request: IncomingMessage, response: ServerResponse, error: ApiError): void {
  response.setHeader('Connection', 'close');
  sendError(response, error, identify(request, response));
}

/** What is wrong with the Host of a request: HTTP/1.1 demands exactly one (RFC 9112, 3.2). Node keeps the first of several. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): ApiError | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined;
  return fault('VALIDATION_ERROR', 'The request must have exactly one Host header.');
}

/** A target as routes know it. Proxies are sent the whole address, and may pass it on as it is. */
function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const origin = ORIGIN.exec(target)?.[0];
  if (origin === undefined) return target;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
