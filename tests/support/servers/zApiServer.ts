import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/*
 * Z-API on a local port, as documented in 2026 (developer.z-api.io): the instance and its token in the path, `Client-Token` as a header, the
 * bodies of send-text and send-audio, the state of the instance, and files of received messages.
 */

/** A message that was accepted. */
export interface ZApiMessage {
  messageId: string;
  phone: string;
  kind: 'text' | 'audio';
  /** The text, or the link of the audio. */
  content: string;
  body: Record<string, unknown>;
}

/** How the service misbehaves until a test changes it. */
export type ZApiFault =
  | { status: number; body?: unknown }
  | { silence: true }
  | { hangUp: true }
  | { hangUpAfter: true };

/** A running Z-API with one instance. Its state is to be changed at will. */
export interface ZApiServer {
  baseUrl: string;
  instanceId: string;
  instanceToken: string;
  clientToken: string;
  messages: ZApiMessage[];
  /** Files of received messages by their name; they are at `${baseUrl}/files/<name>` without any credential. */
  files: Map<string, { bytes: Buffer; mediaType: string }>;
  /** Headers of the requests for files. */
  fileHeaders: Record<string, unknown>[];
  state: { connected: boolean; smartphoneConnected: boolean; error: string };
  fault: ZApiFault | undefined;
  refused: string[];
  close(): Promise<void>;
}

/** Starts it. */
export async function startZApiServer(): Promise<ZApiServer> {
  const http = createServer((request, response) => {
    void answer(server, request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: ZApiServer = {
    baseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    instanceId: 'A20DA9C0183A2D35A260F53F5D2B9244',
    instanceToken: 'instance-token-0123456789',
    clientToken: 'client-token-0123456789',
    messages: [],
    files: new Map(),
    fileHeaders: [],
    state: { connected: true, smartphoneConnected: true, error: 'You are already connected.' },
    fault: undefined,
    refused: [],
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

async function answer(server: ZApiServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sent = await text(request).catch(() => '');
  const send = (status: number, body: unknown) => {
    if (status !== 200) server.refused.push(JSON.stringify(body));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const { fault } = server;
  const path = new URL(request.url ?? '/', 'http://z').pathname;
  const file = server.files.get(path.replace(/^\/files\//, ''));
  if (path.startsWith('/files/')) {
    server.fileHeaders.push(request.headers);
    if (!file) return send(404, { error: 'NOT_FOUND' });
    return void response.writeHead(200, { 'content-type': file.mediaType }).end(file.bytes);
  }
  if (fault && 'silence' in fault) return;
  if (fault && 'hangUp' in fault) return void request.socket.destroy();
  if (fault && 'status' in fault) return send(fault.status, fault.body ?? { error: 'Internal error' });
  const [, instance, token, name] = /^\/instances\/([^/]+)\/token\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  if (instance === undefined)
    return send(404, { error: 'NOT_FOUND', message: 'Unable to find matching target resource method' });
  if (instance !== server.instanceId || token !== server.instanceToken)
    return send(400, { error: 'Instance not found' });
  const clientToken = request.headers['client-token'];
  if (clientToken === undefined) return send(400, { error: 'your client-token is not configured' });
  if (clientToken !== server.clientToken) return send(403, { error: `Client-Token ${clientToken} not allowed` });
  if (name === 'status')
    return request.method === 'GET' ? send(200, server.state) : send(405, { error: 'Method not allowed' });
  if (name !== 'send-text' && name !== 'send-audio') return send(404, { error: 'NOT_FOUND' });
  if (request.method !== 'POST') return send(405, { error: 'Method not allowed' });
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    return send(415, { error: 'Unsupported media type' });
  if (!server.state.connected) return send(400, { error: 'You are not connected.' });
  const body = JSON.parse(sent) as Record<string, unknown>;
  const wrong = fault && 'hangUpAfter' in fault ? undefined : faultOf(name, body);
  if (wrong !== undefined) return send(400, { error: wrong });
  const messageId = createHash('sha256')
    .update(`${server.messages.length} ${sent}`)
    .digest('hex')
    .slice(0, 20)
    .toUpperCase();
  const kind = name === 'send-text' ? 'text' : 'audio';
  const content = String(kind === 'text' ? body.message : body.audio);
  server.messages.push({ messageId, phone: String(body.phone), kind, content, body });
  if (fault && 'hangUpAfter' in fault) return void request.socket.destroy();
  send(200, { zaapId: `Z${messageId}`, messageId, id: messageId });
}

/** What is wrong with the body of a message; undefined when nothing is. */
function faultOf(name: string, body: Record<string, unknown>): string | undefined {
  const keys = name === 'send-text' ? ['phone', 'message'] : ['phone', 'audio', 'waveform'];
  const other = Object.keys(body).find((key) => ![...keys, 'delayMessage', 'delayTyping'].includes(key));
  if (other !== undefined) return `Unknown attribute ${other}`;
  if (!/^(\d{5,20}|\d{5,30}@lid)$/.test(String(body.phone))) return 'phone is invalid';
  if (name === 'send-text' && (typeof body.message !== 'string' || body.message === '')) return 'message is required';
  if (name === 'send-audio' && !/^(https?:\/\/|data:audio\/)/.test(String(body.audio))) return 'audio is invalid';
  for (const key of ['delayMessage', 'delayTyping']) {
    const value = body[key];
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 15))
      return `${key} is invalid`;
  }
  return undefined;
}
