import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { API_PREFIX } from '../../../generated/operations.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { publishedAgent } from '../messages/turns.ts';

/** What one workspace sends does not come before all that another one sends. Counted in answers, not in time. */

const CONNECTIONS = 60;

let app: TestApp;
let models: ModelServer;
const sockets: Socket[] = [];
beforeAll(async () => {
  models = await startModelServer();
  app = await startTestApp({ models: models.settings() });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await app.close();
  await models.close();
});

async function open(): Promise<Socket> {
  const { port, hostname } = new URL(app.origin);
  const socket = connect(Number(port), hostname).setNoDelay();
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Sends the request on an open connection, and resolves when its answer begins. */
function ask(socket: Socket, { apiKey }: SeededWorkspace, request: string, body = ''): Promise<string> {
  const lines = [`${request} HTTP/1.1`, 'Host: x', `X-Api-Key: ${apiKey}`, 'Content-Type: application/json'];
  socket.write([...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'));
  return once(socket, 'data').then(([chunk]) => String(chunk).slice(9, 12));
}

test.each([
  ['reads', 'GET', '/agents', '', '200'],
  [
    'refused bodies',
    'POST',
    '/agents',
    JSON.stringify(Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`f${i}`, i]))),
    '400',
  ],
])(
  '%s of one workspace: a request that comes after them is answered before most of them',
  async (_name, method, path, body, status) => {
    await makeAgent(app);
    const { publicId } = await makeAgent(app, {}, app.stranger.apiKey);
    const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    const one = await open();
    const read = `GET ${API_PREFIX}/agents/${publicId}`;
    // The first of each opens connections to the database and makes the key known.
    await ask(one, app.stranger, read);
    await Promise.all(
      many.slice(0, 8).map((socket) => ask(socket, app.workspace, `${method} ${API_PREFIX}${path}`, body)),
    );
    let answered = 0;
    const all = many.map((socket) =>
      ask(socket, app.workspace, `${method} ${API_PREFIX}${path}`, body).then((found) => {
        answered += 1;
        return found;
      }),
    );
    expect(await ask(one, app.stranger, read)).toBe('200');
    const before = answered;
    expect(new Set(await Promise.all(all))).toEqual(new Set([status]));
    expect(before).toBeLessThan(CONNECTIONS / 2);
  },
);

test.each(['at its limit', 'without a key'])(
  'refusals of one workspace %s: a request that comes after them is answered before most',
  async (which) => {
    const refused = await app.database.seedWorkspace({ limits: { request_limit: 0 } });
    const workspace = which === 'at its limit' ? refused : { ...refused, apiKey: '' };
    const { publicId } = await makeAgent(app, {}, app.stranger.apiKey);
    const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    const one = await open();
    const read = `GET ${API_PREFIX}/agents/${publicId}`;
    await ask(one, app.stranger, read);
    await ask(many[0] as Socket, workspace, `GET ${API_PREFIX}/health`);
    let answered = 0;
    const all = many.map((socket) =>
      ask(socket, workspace, `GET ${API_PREFIX}/health`).then((found) => {
        answered += 1;
        return found;
      }),
    );
    expect(await ask(one, app.stranger, read)).toBe('200');
    const before = answered;
    expect(new Set(await Promise.all(all))).toEqual(new Set([which === 'at its limit' ? '429' : '401']));
    expect(before).toBeLessThan(CONNECTIONS / 2);
  },
);

test('messages of one workspace: a message that comes after them is answered before most of them', async () => {
  const agents = [await publishedAgent(app), await publishedAgent(app, {}, app.stranger.apiKey)];
  const [ofMany, ofOne] = agents.map((id) => `POST ${API_PREFIX}/agents/${id}/messages`) as [string, string];
  const body = JSON.stringify({ content: 'Hello.' });
  const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
  const one = await open();
  await ask(one, app.stranger, ofOne, body);
  await Promise.all(many.slice(0, 8).map((socket) => ask(socket, app.workspace, ofMany, body)));
  let answered = 0;
  const all = many.map((socket) =>
    ask(socket, app.workspace, ofMany, body).then((found) => {
      answered += 1;
      return found;
    }),
  );
  expect(await ask(one, app.stranger, ofOne, body)).toBe('200');
  const before = answered;
  expect(new Set(await Promise.all(all))).toEqual(new Set(['200']));
  expect(before).toBeLessThan(CONNECTIONS / 4);
});
