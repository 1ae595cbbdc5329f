import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { API_PREFIX } from '../../../generated/operations.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';

/** Bodies over 2 MiB, which tools with a large OpenAPI document may have. */

const MIB = 1024 * 1024;
const OPERATION = { operationId: 'list', responses: {} };
const document = {
  openapi: '3.1.0',
  info: { title: 'a', version: '1' },
  servers: [{ url: 'https://api.example.com' }],
  paths: { '/orders': { get: OPERATION }, '/x': { get: { description: 'x'.repeat(3 * MIB) } } },
};
const tool = JSON.stringify({
  name: 'orders',
  description: 'Orders of the shop',
  toolType: 'CUSTOM_INTEGRATION',
  configuration: { openapi: document, operations: ['list'] },
});

let app: TestApp;
const sockets: Socket[] = [];
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await poll(received, (count) => count === 0);
});
afterAll(() => app.close());

/** Begins a request whose body does not come to its end. Resolves with its status when it is answered all the same. */
async function begin({ apiKey }: SeededWorkspace): Promise<{ status: Promise<string> }> {
  const { port, hostname } = new URL(app.origin);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  await once(socket, 'connect');
  const head = [`POST ${API_PREFIX}/http-tools HTTP/1.1`, 'Host: x', `X-Api-Key: ${apiKey}`];
  socket.write([...head, 'Content-Type: application/json', `Content-Length: ${20 * MIB}`, '', '{"a":"'].join('\r\n'));
  return { status: once(socket, 'data').then(([chunk]) => String(chunk).slice(9, 12)) };
}

const send = ({ apiKey }: SeededWorkspace) =>
  app.api('post', '/http-tools', apiKey).set('content-type', 'application/json').send(tool);

const received = async () => (await readdir(join(app.dataDir, 'tmp')).catch(() => [])).length;

test('bodies that other workspaces send slowly keep nobody waiting', async () => {
  for (let n = 0; n < 8; n += 1) {
    const slow = await app.database.seedWorkspace();
    for (let each = 0; each < 2; each += 1) await begin(slow);
  }
  await poll(received, (count) => count === 16);
  const { status, body } = await send(app.stranger);
  expect([status, body.configuration?.operations]).toEqual([201, ['list']]);
  expect(Object.keys(body.configuration.openapi.paths)).toEqual(['/orders']);
});

test('a workspace has eight at a time, and is told', async () => {
  for (let each = 0; each < 8; each += 1) await begin(app.workspace);
  await poll(received, (count) => count === 8);
  const refused = await send(app.workspace);
  expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '5']);
  for (const socket of sockets.splice(0)) socket.destroy();
  await poll(received, (count) => count === 0);
  expect((await send(app.workspace)).status).toBe(201);
});
