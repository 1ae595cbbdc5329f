import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import pg from 'pg';
import { attachEmbedded } from '../../db/embedded.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { poll } from '../support/poll.ts';
import { gatedReply, type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { demoFolder } from './demoFolder.ts';
import { call, cleanUp, json, type ServiceProcess, startService, transcript } from './service.ts';

let server: ModelServer;
let env: NodeJS.ProcessEnv;
let dataDir: string;
let service: ServiceProcess;
let key: string;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(async () => {
  server.reset();
  ({ dataDir, agentId, key } = await demoFolder());
  env = {
    GUILDHALL_DATA_DIR: dataDir,
    GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  };
  service = await startService(env);
  await json(
    call(service.origin, key, 'PATCH', `/agents/${agentId}`, {
      aiModelPublicId: globalModelId('openai-compatible', 'local-model'),
    }),
  );
  await json(call(service.origin, key, 'POST', `/agents/${agentId}/publish`, {}));
});
afterEach(cleanUp);
afterAll(() => server.close());

const post = (path: string, body: object, idempotencyKey: string) =>
  call(service.origin, key, 'POST', path, body, { 'Idempotency-Key': idempotencyKey });
const sendTo = (path: string, idempotencyKey: string, body: object = { content: 'Hello?', externalUserId: 'ada' }) =>
  post(`/agents/${agentId}/${path}`, body, idempotencyKey);

async function killAndRestart(): Promise<void> {
  service.child.kill('SIGKILL');
  expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' });
  service = await startService(env);
}

/** Runs one statement beside the running service, with its role for work across workspaces. */
async function sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const { url } = await attachEmbedded(dataDir);
  const client = new pg.Client({ connectionString: url(), options: '-c role=guildhall_system' });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** What the passing of twenty seconds does to what the dead process held. */
async function leasesRunOut(): Promise<void> {
  await sql(`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`);
  await sql(`update idempotency_keys set claimed_until = now() - interval '1 second' where claim_id is not null`);
}

const conversations = () =>
  sql<{ id: string; message_count: number }>('select id, message_count::int from conversations');

test('kill -9 among many creates: after their retries each is there once, and each retry gets an answer', async () => {
  const names = Array.from({ length: 120 }, (_, place) => `Source ${place}`);
  const keys = new Map(names.map((name) => [name, randomUUID()]));
  const create = (name: string) =>
    post('/knowledge-sources', { name, textContent: 'Once.' }, keys.get(name) ?? '').then((answer) => answer.text());
  const firsts = names.map((name) => create(name).catch(() => undefined));
  await Promise.race(firsts.slice(20, 40));
  await killAndRestart();
  const answered = await Promise.all(firsts);
  expect(answered.filter((answer) => answer === undefined).length).toBeGreaterThan(0);
  await leasesRunOut();
  for (const [place, name] of names.entries()) {
    const retry = await create(name);
    expect(JSON.parse(retry)).toMatchObject({ name, publicId: expect.any(String) });
    // One that was answered before gets that answer.
    if (answered[place]) expect(retry).toBe(answered[place]);
  }
  const stored = await sql<{ name: string }>(`select name from knowledge_sources where deleted_at is null order by id`);
  expect(stored.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test('kill -9 while an MCP server is discovered: the retry continues with the server that is stored', async () => {
  const connected = Promise.withResolvers<void>();
  const silent: Server = createServer(() => connected.resolve()).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const body = { name: 'Silent', url: `https://127.0.0.1:${port}/mcp`, authType: 'NONE' };
  const idempotencyKey = randomUUID();
  const lost = expect(post('/external-mcps', body, idempotencyKey)).rejects.toThrow();
  await connected.promise;
  const [pending] = await sql<{ id: string; status: string }>('select id, status from external_mcps');
  expect(pending?.status).toBe('PENDING');
  await killAndRestart();
  await lost;
  silent.close();
  await leasesRunOut();
  const retry = await json(post('/external-mcps', body, idempotencyKey));
  expect([retry.publicId, retry.status]).toEqual([pending?.id, 'ERROR']);
  expect(await sql('select id from external_mcps')).toHaveLength(1);
});

test.each(['messages', 'messages/stream'])(
  'kill -9 while the model answers %s: the retry gets the reply of the turn that goes on, in its conversation',
  async (path) => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const idempotencyKey = randomUUID();
    const lost = expect(sendTo(path, idempotencyKey).then((answer) => answer.text())).rejects.toThrow();
    await server.received(1);
    await poll(conversations, (rows) => rows.length === 1);
    await killAndRestart();
    await lost;
    gate.end();
    await leasesRunOut();
    const retry = await (await sendTo(path, idempotencyKey)).text();
    expect(retry).toContain('Hello ');
    const [only, ...more] = await conversations();
    expect([only?.message_count, more]).toEqual([2, []]);
    expect(await transcript(service.origin, key, only?.id ?? '')).toEqual([
      'user: Hello?',
      'assistant: Hello from the model.',
    ]);
    expect(await sql('select status from turns order by started_at, id')).toEqual([{ status: 'done' }]);
    expect(server.requests).toHaveLength(2);
  },
);

test('kill -9 after the answer: the retry gets it, and the model is not called again', async () => {
  const idempotencyKey = randomUUID();
  const first = await (await sendTo('messages', idempotencyKey)).text();
  await killAndRestart();
  expect(await (await sendTo('messages', idempotencyKey)).text()).toBe(first);
  expect(server.requests).toHaveLength(1);
});

test('a retry that comes before the lease of the dead process has run out waits for that, and then takes over', async () => {
  server.script({ silence: true });
  const idempotencyKey = randomUUID();
  const lost = expect(sendTo('messages', idempotencyKey)).rejects.toThrow();
  await server.received(1);
  await killAndRestart();
  await lost;
  const { messages } = await json(sendTo('messages', idempotencyKey));
  expect(messages).toEqual([{ role: 'assistant', content: 'Hello from the model.' }]);
  expect(await conversations()).toEqual([{ id: expect.any(String), message_count: 2 }]);
});
