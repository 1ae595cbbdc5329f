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
/**
 * Refused for its query, once the key is known: no statement goes to the database. What comes after it there depends on when the system runs the
 * process of a connection, and while a read waits for that, requests that need no database go on.
 */
const LIGHT = `GET ${API_PREFIX}/agents?limit=0`;
/** Reads and messages wait for the database. So that no single wait decides, the middle of so many counts. */
const ROUNDS = 5;

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

/** Sends the request on each of the connections, then `after`. Resolves to the number of answers that came before its own. */
async function answeredBefore(
  many: readonly Socket[],
  request: string,
  status: string,
  after: () => Promise<void>,
  { workspace = app.workspace, body = '' }: { workspace?: SeededWorkspace; body?: string } = {},
): Promise<number> {
  let answered = 0;
  const all = many.map((socket) =>
    ask(socket, workspace, request, body).then((found) => {
      answered += 1;
      return found;
    }),
  );
  await after();
  const before = answered;
  expect(new Set(await Promise.all(all))).toEqual(new Set([status]));
  return before;
}

async function middleOfRounds(count: () => Promise<number>): Promise<number> {
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) counts.push(await count());
  return counts.sort((a, b) => a - b)[(ROUNDS - 1) / 2] as number;
}

test('reads of one workspace: a read that comes after them is answered before most of them', async () => {
  await makeAgent(app);
  const { publicId } = await makeAgent(app, {}, app.stranger.apiKey);
  const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
  const one = await open();
  const read = `GET ${API_PREFIX}/agents/${publicId}`;
  const list = `GET ${API_PREFIX}/agents`;
  const before = await middleOfRounds(async () => {
    // The first of each opens connections to the database and makes the key known.
    await ask(one, app.stranger, read);
    await Promise.all(many.slice(0, 8).map((socket) => ask(socket, app.workspace, list)));
    return await answeredBefore(many, list, '200', async () => expect(await ask(one, app.stranger, read)).toBe('200'));
  });
  expect(before).toBeLessThan(CONNECTIONS / 2);
});

test('refused bodies of one workspace: a request that comes after them is answered before most of them', async () => {
  const body = JSON.stringify(Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`f${i}`, i])));
  const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
  const one = await open();
  const create = `POST ${API_PREFIX}/agents`;
  await Promise.all(many.slice(0, 8).map((socket) => ask(socket, app.workspace, create, body)));
  await ask(one, app.stranger, LIGHT);
  const before = await answeredBefore(
    many,
    create,
    '400',
    async () => expect(await ask(one, app.stranger, LIGHT)).toBe('400'),
    { body },
  );
  expect(before).toBeLessThan(CONNECTIONS / 2);
});

test.each(['at its limit', 'without a key'])(
  'refusals of one workspace %s: a request that comes after them is answered before most',
  async (which) => {
    const refused = await app.database.seedWorkspace({ limits: { request_limit: 0 } });
    const workspace = which === 'at its limit' ? refused : { ...refused, apiKey: '' };
    const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    const one = await open();
    const health = `GET ${API_PREFIX}/health`;
    await ask(many[0] as Socket, workspace, health);
    await ask(one, app.stranger, LIGHT);
    const status = which === 'at its limit' ? '429' : '401';
    const before = await answeredBefore(
      many,
      health,
      status,
      async () => expect(await ask(one, app.stranger, LIGHT)).toBe('400'),
      { workspace },
    );
    expect(before).toBeLessThan(CONNECTIONS / 2);
  },
);

test('messages of one workspace: a message that comes after them is answered before most of them', async () => {
  const agents = [await publishedAgent(app), await publishedAgent(app, {}, app.stranger.apiKey)];
  const [ofMany, ofOne] = agents.map((id) => `POST ${API_PREFIX}/agents/${id}/messages`) as [string, string];
  const body = JSON.stringify({ content: 'Hello.' });
  const many = await Promise.all(Array.from({ length: CONNECTIONS }, open));
  const one = await open();
  const before = await middleOfRounds(async () => {
    await ask(one, app.stranger, ofOne, body);
    await Promise.all(many.slice(0, 8).map((socket) => ask(socket, app.workspace, ofMany, body)));
    const after = async () => expect(await ask(one, app.stranger, ofOne, body)).toBe('200');
    return await answeredBefore(many, ofMany, '200', after, { body });
  });
  expect(before).toBeLessThan(CONNECTIONS / 4);
});
