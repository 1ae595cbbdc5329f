import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import { createHttpServer } from '../../../../server/httpServer.ts';
import { mcpRoutes } from '../../../../server/routes/mcp/routes.ts';
import { sendWebResponse } from '../../../../server/routes/mcp/webResponse.ts';
import { makeReadyAgent, publish } from '../../../support/agents/agents.ts';
import { useModelApp } from '../../../support/http/modelApp.ts';
import { until } from '../../../support/poll.ts';
import { gatedReply } from '../../../support/servers/modelServer.ts';
import { doorParts } from './doorParts.ts';

const here = useModelApp();
const HEADERS = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
const call = (name: string, args: object, progressToken?: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, ...(progressToken ? { _meta: { progressToken } } : {}) },
});
const LIST_AGENTS = call('agents__list_agents', {});

function post(key: string, body: object = LIST_AGENTS, path = '/mcp', origin = here.app.origin) {
  return fetch(origin + path, {
    method: 'POST',
    headers: { ...HEADERS, 'X-Api-Key': key },
    body: JSON.stringify(body),
  });
}

/** A published agent, and the answers of its model, which come when the test says so. */
async function slowAgent(count: number) {
  const { app, server } = here;
  const { body: models } = await app.api('get', '/ai-models');
  const { publicId: aiModelPublicId } = models.find(({ provider }: { provider: string }) => provider !== 'builtin');
  const { publicId } = await makeReadyAgent(app, { aiModelPublicId });
  await publish(app, publicId);
  const gates = Array.from({ length: count }, () => gatedReply());
  server.script(...gates.map(({ chunks }) => ({ reply: chunks })));
  return { agentId: publicId, gates };
}

/** Requests that the service is answering, that of the metrics not among them. */
async function running(): Promise<number> {
  const { text } = await here.app.raw.get('/metrics');
  return Number(/^guildhall_http_requests_running (\d+)$/m.exec(text)?.[1]);
}

test('who has 200 messages under way gets no more, and another workspace is answered beside them', async () => {
  const { app } = here;
  const key = app.workspace.apiKey;
  // A request has its place from its head on: these never send all of their bodies.
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(Number(new URL(app.origin).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(head);
    return socket;
  });
  await until(async () => (await running()) === 200);
  const over = await post(key);
  expect([over.status, over.headers.get('retry-after')]).toEqual([429, '1']);
  const other = await post(app.stranger.apiKey);
  expect([other.status, await other.text()]).toEqual([200, expect.stringContaining('"structuredContent"')]);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await running()) === 0);
  expect((await post(key)).status).toBe(200);
});

test('200 calls at once of one workspace are all answered, and one of another beside them', async () => {
  const { app } = here;
  const calls = Array.from({ length: 200 }, () => post(app.workspace.apiKey).then((response) => response.text()));
  const other = post(app.stranger.apiKey).then((response) => response.text());
  const first = await Promise.race([other.then(() => 'the other'), Promise.all(calls).then(() => 'the flood')]);
  expect(first).toBe('the other');
  for (const text of await Promise.all(calls)) expect(text).toContain('"structuredContent"');
});

test('a client that leaves ends what waits for it, and the agent completes its turn', async () => {
  const { app, server } = here;
  const { agentId, gates } = await slowAgent(1);
  const left = new AbortController();
  const response = await fetch(`${app.origin}/mcp/agents/${agentId}`, {
    method: 'POST',
    headers: { ...HEADERS, 'X-Api-Key': app.workspace.apiKey },
    body: JSON.stringify(call('ask', { message: 'Hi' }, 'token')),
    signal: left.signal,
  });
  await server.received(1);
  gates[0]?.push('Half of ');
  await response.body?.getReader().read();
  expect(await running()).toBe(2);
  left.abort();
  await until(async () => (await running()) === 0);
  gates[0]?.push('it.');
  gates[0]?.end();
  const { body } = await app.api('get', `/conversations?agentPublicId=${agentId}`);
  const path = `/conversations/${body.items[0].publicId}/messages`;
  await until(async () => (await app.api('get', path)).body.total === 2);
});

describe('time', () => {
  let http: ReturnType<typeof createHttpServer>;
  let origin: string;
  beforeAll(async () => {
    const routes = mcpRoutes({ ...doorParts(here.app), bodyMs: 300, wholeMs: 1_000 });
    http = createHttpServer();
    http.handle(express().use('/mcp', routes).use(here.app.service.app));
    origin = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
  });
  afterAll(async () => {
    const closed = http.close();
    http.cut();
    await closed;
  });

  test('a body that does not arrive is not waited for', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${here.app.workspace.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    await once(socket, 'close');
  });

  test('a request that takes too long is ended, in words where nothing has been sent', async () => {
    const { agentId, gates } = await slowAgent(2);
    const send = call('messages__send_message', { agentPublicId: agentId, body: { content: 'Hi' } });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const modern = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        ...HEADERS,
        'X-Api-Key': here.app.workspace.apiKey,
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'messages__send_message',
      },
      body: JSON.stringify({ ...send, params: { ...send.params, _meta: meta } }),
    });
    expect([modern.status, await modern.json()]).toMatchObject([504, { error: { data: { status: 504 } } }]);
    // A client of 2025 has its stream by then: it breaks off.
    const old = await post(here.app.workspace.apiKey, send, '/mcp', origin);
    await expect(old.text()).rejects.toThrow();
    for (const gate of gates) gate.end();
  });
});

test('a stream that nobody reads is cut off, and what feeds it ends', async () => {
  let fed = 0;
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream({
    pull(controller) {
      fed += 1;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel: () => cancelled.resolve(),
  });
  const server = createServer((_request, response) => {
    const web = new Response(stream, { headers: { 'Content-Type': 'text/event-stream' } });
    void sendWebResponse(response, web, { unreadMs: 200 });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await cancelled.promise;
  // What the system's buffers take, and no more.
  expect(fed).toBeLessThan(1_000);
  socket.destroy();
  server.close();
});
