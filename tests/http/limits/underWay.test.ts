import { connect, type Socket } from 'node:net';
import type supertest from 'supertest';
import { API_PREFIX } from '../../../generated/operations.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { begun, publishedAgent, send } from '../messages/turns.ts';

/** How much a workspace may have under way at a time. */

const clock = new TestClock();
let models: ModelServer;
let app: TestApp;
const sockets: Socket[] = [];

beforeAll(async () => {
  models = await startModelServer();
  app = await startTestApp({ models: models.settings(), clock });
});
beforeEach(() => models.reset());
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await app.close();
  await models.close();
});

/** A request whose body never ends. */
async function begin({ apiKey }: SeededWorkspace): Promise<Socket> {
  const { port, hostname } = new URL(app.origin);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const lines = [
    `POST ${API_PREFIX}/agents HTTP/1.1`,
    'Host: x',
    `X-Api-Key: ${apiKey}`,
    'Content-Type: application/json',
  ];
  await new Promise<void>((resolve) => {
    socket.write([...lines, 'Content-Length: 100', '', '{'].join('\r\n'), () => resolve());
  });
  return socket;
}

const health = ({ apiKey }: SeededWorkspace) => app.api('get', '/health', apiKey);
const outcome = ({ status, body, headers }: supertest.Response) => [status, body.code, Number(headers['retry-after'])];
const REFUSED = [429, 'RATE_LIMITED', 1];

describe('429 RATE_LIMITED', () => {
  test('a workspace has as many requests under way as its limit allows, and others have theirs', async () => {
    const workspace = await app.database.seedWorkspace({ limits: { request_limit: 3 } });
    await health(workspace).expect(200);
    const [first] = [await begin(workspace), await begin(workspace), await begin(workspace)];
    const refused = await poll(
      () => health(workspace),
      ({ status }) => status === 429,
    );
    expect(outcome(refused)).toEqual(REFUSED);
    expect(refused.body.message).toContain('3 requests under way');
    await health(app.stranger).expect(200);
    // Its messages are counted apart.
    const agent = await publishedAgent(app, {}, app.stranger.apiKey);
    expect((await send(app, agent, { content: 'Hi.' }, workspace.apiKey)).status).toBe(404);
    first.destroy();
    await poll(
      () => health(workspace),
      ({ status }) => status === 200,
    );
  });

  test('a workspace has as many messages under way as its limit allows, and its requests go on', async () => {
    const workspace = await app.database.seedWorkspace({ limits: { turn_limit: 2 } });
    const agent = await publishedAgent(app, {}, workspace.apiKey);
    const gate = gatedReply();
    models.script({ reply: gate.chunks }, { silence: true });
    const content = { content: 'Hello.' };
    const answered = send(app, agent, content, workspace.apiKey).then(({ status }) => status);
    await models.received(1);
    const leaving = new AbortController();
    const stream = fetch(`${app.origin}${API_PREFIX}/agents/${agent}/messages/stream`, {
      method: 'POST',
      headers: { 'x-api-key': workspace.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(content),
      signal: leaving.signal,
    });
    await models.received(2);
    await stream;
    for (const path of ['messages', 'messages/stream'])
      expect(outcome(await app.api('post', `/agents/${agent}/${path}`, workspace.apiKey).send(content))).toEqual(
        REFUSED,
      );
    await health(workspace).expect(200);
    // A turn goes on without its client, and so does its place.
    leaving.abort();
    await health(workspace).expect(200);
    expect(outcome(await send(app, agent, content, workspace.apiKey))).toEqual(REFUSED);
    gate.push('Done.');
    gate.end();
    expect(await answered).toBe(200);
    await begun(app, agent, 'Again.', workspace.apiKey);
  });

  test('requests whose connection is lost are not under way, also those whose answers waited for an earlier one', async () => {
    const workspace = await app.database.seedWorkspace({ limits: { request_limit: 3 } });
    const agent = await publishedAgent(app, {}, workspace.apiKey);
    models.script({ silence: true });
    const { port, hostname } = new URL(app.origin);
    const socket = connect(Number(port), hostname);
    sockets.push(socket.on('error', () => {}));
    const body = JSON.stringify({ content: 'Hello.' });
    const head = (request: string, length = 0) =>
      [
        `${request} HTTP/1.1`,
        'Host: x',
        `X-Api-Key: ${workspace.apiKey}`,
        'Content-Type: application/json',
        `Content-Length: ${length}`,
        '',
        '',
      ].join('\r\n');
    const message = head(`POST ${API_PREFIX}/agents/${agent}/messages`, body.length) + body;
    socket.write(message + head(`GET ${API_PREFIX}/health`).repeat(3));
    await models.received(1);
    await poll(
      () => health(workspace),
      ({ status }) => status === 429,
    );
    socket.destroy();
    await poll(
      () => health(workspace),
      ({ status }) => status === 200,
    );
  });

  test('a changed limit holds within five seconds', async () => {
    const workspace = await app.database.seedWorkspace();
    await health(workspace).expect(200);
    const { system } = app.database.database;
    await system.updateTable('workspaces').set({ request_limit: 0 }).where('id', '=', workspace.workspaceId).execute();
    clock.advance(5_100);
    expect(outcome(await health(workspace))).toEqual(REFUSED);
  });
});
