import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server got it. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How one request is answered: whatever can be done with a response, its socket included. */
export type OddStep = (response: ServerResponse, request: ReceivedRequest) => void;

/** A service that answers as clients must expect it from proxies, dying services and networks. */
export interface OddServer {
  /** `http://127.0.0.1:port` */
  origin: string;
  /** Every request, in the order in which they were complete. */
  received: ReceivedRequest[];
  /** Sets how the next requests are answered, one step each; the last one answers all that follow. */
  script(...steps: OddStep[]): void;
  close(): Promise<void>;
}

/** Starts it. Without a script it answers 200 with `{}`. */
export async function startOddServer(): Promise<OddServer> {
  let steps: OddStep[] = [json(200, {})];
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const whole = { method, url, headers, body: Buffer.concat(chunks).toString() };
      received.push(whole);
      const step = steps.length > 1 ? steps.shift() : steps[0];
      step?.(response, whole);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    script(...next) {
      steps = next;
      received.length = 0;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): OddStep {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Answers with an error of the API. */
export function apiError(status: number, code: string, headers: Record<string, string> = {}): OddStep {
  return json(status, { code, message: `This is ${code}.`, details: [], requestId: 'request-1' }, headers);
}

/** Destroys the connection instead of answering. */
export const hangUp: OddStep = (response) => {
  response.destroy();
};

/** Takes the request and never answers. */
export const silence: OddStep = () => undefined;

/** Begins a stream of events with these pieces and leaves it open. */
export function stream(...pieces: (string | Uint8Array)[]): OddStep {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
  };
}
