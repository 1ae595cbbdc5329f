import pg from 'pg';
import { attachEmbedded } from '../../db/embedded.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { poll } from '../support/poll.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { demoFolder } from './demoFolder.ts';
import { call, cleanUp, json, type ServiceProcess, startService, transcript } from './service.ts';

let server: ModelServer;
let tools: ToolServer;
let env: NodeJS.ProcessEnv;
let dataDir: string;
let service: ServiceProcess;
let key: string;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
});
beforeEach(async () => {
  server.reset();
  tools.received.length = 0;
  ({ dataDir, agentId, key } = await demoFolder());
  env = {
    GUILDHALL_DATA_DIR: dataDir,
    GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  };
  service = await startService(env);
});
afterEach(cleanUp);
afterAll(async () => {
  await tools.close();
  await server.close();
});

const api = (method: string, path: string, body?: object) => json(call(service.origin, key, method, path, body));
const send = (body: object) => call(service.origin, key, 'POST', `/agents/${agentId}/messages`, body);
const toolCall = { id: 'call_1', name: 'pay', arguments: '{}' };

/** Links a tool that posts to the tool server to the demo agent. */
async function withTool(requiresApproval: boolean): Promise<void> {
  const configuration = { method: 'POST', url: `${tools.origin}/pay`, timeoutSeconds: 60 };
  const tool = await api('POST', '/http-tools', {
    name: 'pay',
    toolType: 'HTTP_REQUEST',
    configuration,
    requiresApproval,
  });
  await api('POST', `/agents/${agentId}/http-tools`, { httpToolPublicId: tool.publicId });
  await api('PATCH', `/agents/${agentId}`, { aiModelPublicId: globalModelId('openai-compatible', 'local-model') });
  await api('POST', `/agents/${agentId}/publish`, {});
}

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
const expireLeases = () =>
  sql(`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`);
const turns = () => sql<{ status: string; kind: string }>('select status, kind from turns order by started_at, id');

test('kill -9 while a tool is called: the turn goes on and its model is told, its steps can be read, and the conversation continues', async () => {
  await withTool(false);
  tools.on('/pay', () => {});
  server.script({ reply: 'I pay.', toolCalls: [toolCall] });
  const lost = expect(send({ content: 'Pay.', externalUserId: 'ada' })).rejects.toThrow();
  await poll(
    async () => tools.received.length,
    (count) => count === 1,
  );
  await killAndRestart();
  await lost;
  const { items } = await api('GET', '/conversations?externalUserId=ada');
  const conversationId = items[0].publicId;
  expect(await sql('select kind, status, name from turn_steps order by seq')).toEqual([
    { kind: 'model', status: 'done', name: 'local-model' },
    { kind: 'tool', status: 'running', name: 'pay' },
  ]);
  server.script({ reply: 'I cannot tell.' }, { reply: 'Here again.' });
  await expireLeases();
  await json(send({ content: 'Well?', conversationId }));
  expect((await turns()).map(({ status }) => status)).toEqual(['done', 'done']);
  expect(JSON.stringify(server.requests[1]?.body)).toContain('Whether it was made is not known.');
  // The tokens of both attempts are counted.
  expect(await sql('select input_tokens::int, output_tokens::int from turns order by started_at, id')).toEqual([
    { input_tokens: 22, output_tokens: 8 },
    { input_tokens: 11, output_tokens: 4 },
  ]);
  expect(await sql('select input_tokens::int, output_tokens::int from conversations')).toEqual([
    { input_tokens: 33, output_tokens: 12 },
  ]);
  expect(await transcript(service.origin, key, conversationId)).toEqual([
    'user: Pay.',
    'assistant: I pay.\n\nI cannot tell.',
    'user: Well?',
    'assistant: Here again.',
  ]);
  // An interrupted call is not repeated automatically.
  expect(tools.received).toHaveLength(1);
});

test('kill -9 while an approved call is made: it is not made again, and the agent learns that and continues', async () => {
  await withTool(true);
  tools.on('/pay', () => {});
  server.script({ reply: 'I would pay.', toolCalls: [toolCall] });
  const { conversationId } = await json(send({ content: 'Pay.' }));
  expect(tools.received).toHaveLength(0);
  const lost = expect(send({ content: 'approve', conversationId })).rejects.toThrow();
  await poll(
    async () => tools.received.length,
    (count) => count === 1,
  );
  await killAndRestart();
  await lost;
  server.script({ reply: 'I cannot tell.' });
  await expireLeases();
  await json(send({ content: 'Well?', conversationId }));
  expect(tools.received).toHaveLength(1);
  expect(JSON.stringify(server.requests[1]?.body)).toContain('Whether it was made is not known.');
  expect((await turns()).map(({ status }) => status)).toEqual(['done', 'done', 'done']);
});

test('kill -9 between the approval and the call: the next process makes it once, and the reply is stored', async () => {
  await withTool(true);
  tools.on('/pay', (_received, response) => void response.writeHead(200).end('paid'));
  server.script({ reply: 'I would pay.', toolCalls: [toolCall] });
  const { conversationId } = await json(send({ content: 'Pay.' }));
  service.child.kill('SIGKILL');
  await service.ended;
  // As if a process had taken the decision and died before the call.
  service = await startService({ ...env, GUILDHALL_ROLE: 'all' });
  server.script({ reply: 'Paid.' });
  await sql(`update approvals set status = 'approved', decided_at = now(), decided_by = 'message'`);
  await killAndRestart();
  await poll(
    () => transcript(service.origin, key, conversationId),
    (lines) => lines.at(-1) === 'assistant: Paid.',
  );
  expect(tools.received).toHaveLength(1);
  expect((await turns()).map(({ kind, status }) => [kind, status])).toEqual([
    ['message', 'done'],
    ['continuation', 'done'],
  ]);
});
