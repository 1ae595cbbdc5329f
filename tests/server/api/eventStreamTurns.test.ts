import { connect } from 'node:net';
import { conversationsOf, publishedAgent, stored } from '../../http/messages/turns.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';

let server: ModelServer;
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings({ maxAnswerBytes: 2 * PIECES * PIECE.length }) });
  agentId = await publishedAgent(app);
});
afterAll(async () => {
  await app.close();
  await server.close();
});

const path = () => `/public/api/v1/agents/${agentId}/messages/stream`;
const PIECE = 'x'.repeat(10_000);
/** More than the buffers of two sockets hold. */
const PIECES = 2_000;

test('a client that reads nothing is disconnected; its turn is completed and stored, and other streams are not affected', async () => {
  const large = gatedReply();
  const other = gatedReply();
  server.script({ reply: large.chunks }, { reply: other.chunks });
  const body = JSON.stringify({ content: 'All of it', externalUserId: 'deaf' });
  const socket = connect(Number(new URL(app.origin).port), '127.0.0.1').pause();
  socket.write(
    `POST ${path()} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${app.workspace.apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await server.received(1);
  const reading = fetch(app.origin + path(), {
    method: 'POST',
    headers: { 'X-Api-Key': app.workspace.apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ content: 'Well?', externalUserId: 'listener' }),
  }).then((response) => response.text());
  await server.received(2);
  other.push('Before, ');
  for (let sent = 0; sent < PIECES; sent += 1) large.push(PIECE);
  large.end();
  await server.requests[0]?.closed;
  other.push('after.');
  other.end();
  await app.service.runtime.turns.idle();

  const [kept] = await conversationsOf(app, 'deaf');
  expect((await stored(app, kept?.publicId ?? ''))[1]?.content).toBe(PIECE.repeat(PIECES));
  const heard = await reading;
  expect(heard).toContain('{"text":"Before, "}');
  expect(heard).toContain('{"text":"after."}');
  expect(heard).toContain('event: debug-info');

  let read = 0;
  let tail = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    read += chunk.length;
    tail = (tail + chunk).slice(-5_000);
  });
  socket.on('error', () => {}).resume();
  await new Promise((resolve) => socket.once('close', resolve));
  expect(read).toBeLessThan(PIECES * PIECE.length);
  expect(tail).not.toContain('debug-info');
});
