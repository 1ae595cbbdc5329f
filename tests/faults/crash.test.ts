import pg from 'pg';
import { attachEmbedded } from '../../db/embedded.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { demoFolder } from './demoFolder.ts';
import { call, cleanUp, json, launch, startService, transcript } from './service.ts';

let server: ModelServer;
let env: NodeJS.ProcessEnv;
let dataDir: string;
let agentId: string;
let key: string;

beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(async () => {
  server.reset();
  ({ dataDir, agentId, key } = await demoFolder());
  env = {
    GUILDHALL_DATA_DIR: dataDir,
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  };
});
afterEach(cleanUp);
afterAll(() => server.close());

/** Runs one statement beside the running service, with its role for work across workspaces. */
async function sql(text: string): Promise<number> {
  const { url } = await attachEmbedded(dataDir);
  const client = new pg.Client({ connectionString: url(), options: '-c role=guildhall_system' });
  await client.connect();
  try {
    return (await client.query(text)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}

test('kill -9 in the middle of turns loses nothing that was stored, and blocks conversations no longer than their lease', async () => {
  const first = await startService(env);
  const aiModelPublicId = globalModelId('openai-compatible', 'local-model');
  await json(call(first.origin, key, 'PATCH', `/agents/${agentId}`, { aiModelPublicId }));
  await json(call(first.origin, key, 'POST', `/agents/${agentId}/publish`, {}));
  const send = (origin: string, body: object) => call(origin, key, 'POST', `/agents/${agentId}/messages`, body);
  const { conversationId } = await json(send(first.origin, { content: 'Answered.' }));

  server.script({ silence: true }, { silence: true });
  const lost = [
    send(first.origin, { content: 'Unanswered.', conversationId }),
    send(first.origin, { content: 'New.', externalUserId: 'newcomer' }),
  ].map((each) => expect(each).rejects.toThrow());
  await server.received(3);
  first.child.kill('SIGKILL');
  expect(await first.ended).toEqual({ code: null, signal: 'SIGKILL' });
  await Promise.all(lost);

  const second = await startService(env);
  const kept = ['user: Answered.', 'assistant: Hello from the model.', 'user: Unanswered.'];
  expect(await transcript(second.origin, key, conversationId)).toEqual(kept);
  const { items } = await json(call(second.origin, key, 'GET', '/conversations?externalUserId=newcomer'));
  expect(await transcript(second.origin, key, items[0].publicId)).toEqual(['user: New.']);

  const waiting = json(send(second.origin, { content: 'Anybody?', conversationId }));
  expect(
    await sql(`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`),
  ).toBe(2);
  expect((await waiting).conversation.messageCount).toBe(6);
  await json(send(second.origin, { content: 'Me too.', conversationId: items[0].publicId, timeoutSeconds: 10 }));
  expect(await transcript(second.origin, key, conversationId)).toEqual([
    ...kept,
    'assistant: Hello from the model.',
    'user: Anybody?',
    'assistant: Hello from the model.',
  ]);
});

test('a second service on the same folder refuses to start with one clear line, and the first keeps running', async () => {
  const first = await startService(env);
  const second = launch(env);
  expect(await second.ended).toEqual({ code: 1, signal: null });
  const { stdout, stderr } = second.output();
  expect(stderr).toMatch(/^Another Guildhall process uses the data folder [^\n]+\n$/);
  expect(stderr).toContain(dataDir);
  expect(stdout).not.toContain('ready');
  expect(await json(call(first.origin, key, 'GET', '/health'))).toMatchObject({ status: 'ok' });
});
