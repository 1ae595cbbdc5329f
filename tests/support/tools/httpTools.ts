import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../http/app.ts';
import type { Certificate } from '../servers/tls.ts';

type Schemas = components['schemas'];

let made = 0;

/** Creates a tool, by default an HTTP_REQUEST with a unique name, in the workspace of `key`. */
export async function makeTool(
  app: TestApp,
  fields: Partial<Schemas['HttpToolCreate']> = {},
  key?: string,
): Promise<Schemas['HttpTool']> {
  const configuration = { url: 'https://api.example.com/orders' };
  const body = { name: `tool_${++made}`, toolType: 'HTTP_REQUEST', configuration, ...fields };
  const created = await app.api('post', '/http-tools', key).send(body);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** Runs a tool through the API. */
export async function tryTool(
  app: TestApp,
  toolId: string,
  inputs: Record<string, unknown> = {},
): Promise<Schemas['HttpToolTestResult']> {
  const { status, text, body } = await app.api('post', `/http-tools/${toolId}/test`).send({ inputs });
  if (status !== 200) throw new Error(text);
  return body;
}

/** A request that a tool sent. */
export interface ReceivedRequest {
  method: string;
  /** Path and query, unchanged. */
  url: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

type Answer = (received: ReceivedRequest, response: http.ServerResponse) => void;

/** An API that tools call. It records each request and returns it as JSON, unless `on` sets another response. */
export interface ToolServer {
  origin: string;
  received: ReceivedRequest[];
  /** Sets the response of a path. */
  on(path: string, answer: Answer): void;
  close(): Promise<void>;
}

/** Starts the API on 127.0.0.1, with TLS if there is a certificate. */
export async function startToolServer(certificate?: Certificate): Promise<ToolServer> {
  const received: ReceivedRequest[] = [];
  const answers = new Map<string, Answer>();
  const listener: http.RequestListener = async (request, response) => {
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: (await buffer(request)).toString('utf8') };
    received.push(one);
    const answer = answers.get(url.split('?', 1)[0] ?? '');
    if (answer) answer(one, response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(one));
  };
  const server = certificate ? https.createServer(certificate, listener) : http.createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `${certificate ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    on: (path, answer) => void answers.set(path, answer),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A response with this body and Content-Type. */
export function answering(body: string | Buffer, contentType = 'application/json', status = 200): Answer {
  return (_received, response) => void response.writeHead(status, { 'content-type': contentType }).end(body);
}
