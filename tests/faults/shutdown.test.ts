import { Agent, get, type IncomingMessage } from 'node:http';
import { jest } from '@jest/globals';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { until } from '../support/poll.ts';
import { gatedReply, type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import {
  call,
  cleanUp,
  demoOf,
  expectPromptExit,
  freshFolder,
  json,
  type ServiceProcess,
  startService,
  transcript,
} from './service.ts';

jest.setTimeout(60_000); // each test starts processes, each with a PostgreSQL

const LOCAL = globalModelId('openai-compatible', 'local-model');

let server: ModelServer;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(async () => {
  server.reset();
  env = {
    GUILDHALL_DATA_DIR: await freshFolder(),
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  };
});
afterEach(cleanUp);
afterAll(() => server.close());

/** Starts the service for the first time, with its demo agent on the test's model. */
async function startedDemo(command?: string[]): Promise<ServiceProcess & { agentId: string; key: string }> {
  const service = await startService(env, command);
  const { agentId, key } = demoOf(service);
  await json(
    call(service.origin, key, 'PATCH', `/agents/${agentId}`, { aiModelPublicId: LOCAL, systemPrompt: 'SESAME' }),
  );
  await json(call(service.origin, key, 'POST', `/agents/${agentId}/publish`, {}));
  return { ...service, agentId, key };
}

/** Sends a request on the only connection of an agent. Returns whether that connection was used before. */
function getOn(agent: Agent, url: string, key: string) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; body: string; reused: boolean }>(
    (resolve, reject) => {
      const request = get(url, { agent, headers: { 'X-Api-Key': key } }, async (response) => {
        let body = '';
        for await (const chunk of response.setEncoding('utf8')) body += chunk;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, reused: request.reusedSocket });
      }).on('error', reject);
    },
  );
}

/** Polls until the service says that it drains, since the signal takes a moment to arrive. */
async function untilDraining(origin: string): Promise<void> {
  await until(async () => (await fetch(`${origin}/readyz`)).status === 503, 20_000);
}

test('the first start creates the demo workspace and shows its key; the next one keeps both and shows nothing', async () => {
  const first = await startService(env);
  const { agentId, key } = demoOf(first);
  const { body } = {
    body: await json(call(first.origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Hello.' })),
  };
  expect(body.messages[0].content).toContain('You wrote: “Hello.”');
  expect(await (await fetch(`${first.origin}/readyz`)).json()).toEqual({ status: 'ok' });
  first.child.kill('SIGTERM');
  await expectPromptExit(first);
  const second = await startService(env);
  expect(second.output().stdout).not.toContain('gsk_');
  expect(await transcript(second.origin, key, body.conversationId)).toHaveLength(2);
  second.child.kill('SIGINT');
  await expectPromptExit(second);
  expect(second.output().stderr).toBe('');
});

test('SIGTERM: running requests are finished and stored, new ones get 503, and the exit code is 0', async () => {
  const service = await startedDemo();
  const { origin, key, agentId } = service;
  const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
  const agents = `${origin}/public/api/v1/agents`;
  expect((await getOn(keepAlive, agents, key)).status).toBe(200);

  const [blockingGate, streamGate] = [gatedReply(), gatedReply()];
  server.script({ reply: blockingGate.chunks }, { reply: streamGate.chunks });
  const blocking = json(call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Wait for me' }));
  await server.received(1);
  const stream = await call(origin, key, 'POST', `/agents/${agentId}/messages/stream`, { content: 'And me' });
  await server.received(2);
  service.child.kill('SIGTERM');
  await untilDraining(origin);

  const late = await getOn(keepAlive, agents, key);
  expect(late).toMatchObject({ status: 503, reused: true, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
  expect(JSON.parse(late.body)).toMatchObject({ code: 'UNAVAILABLE' });
  const lateSend = await call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Too late' });
  expect(lateSend.status).toBe(503);
  expect((await fetch(`${origin}/livez`)).status).toBe(200);
  expect(server.requests).toHaveLength(2);

  for (const gate of [blockingGate, streamGate]) {
    gate.push('Here ');
    gate.push('I am.');
    gate.end();
  }
  const answer = await blocking;
  expect(answer.messages).toEqual([{ role: 'assistant', content: 'Here I am.' }]);
  const events = await stream.text();
  expect(events.match(/^event: .*/gm)).toEqual([
    'event: conversation-id',
    'event: text-delta',
    'event: text-delta',
    'event: debug-info',
  ]);
  await expectPromptExit(service);
  keepAlive.destroy();

  const next = await startService(env);
  expect(await transcript(next.origin, key, answer.conversationId)).toEqual([
    'user: Wait for me',
    'assistant: Here I am.',
  ]);
  const streamed = /"conversationId":"([^"]+)"/.exec(events)?.[1] ?? '';
  expect(await transcript(next.origin, key, streamed)).toEqual(['user: And me', 'assistant: Here I am.']);
});

test('SIGTERM: a turn whose client has disconnected is finished, too', async () => {
  const service = await startedDemo();
  const { origin, key, agentId } = service;
  const conversationId = (await json(call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Hello.' })))
    .conversationId;
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const leaving = new AbortController();
  const stream = await fetch(`${origin}/public/api/v1/agents/${agentId}/messages/stream`, {
    method: 'POST',
    headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ content: 'Bye', conversationId }),
    signal: leaving.signal,
  });
  expect(stream.status).toBe(200);
  await server.received(2);
  leaving.abort();
  service.child.kill('SIGTERM');
  await untilDraining(origin);
  gate.push('Done.');
  gate.end();
  await expectPromptExit(service);
  const next = await startService(env);
  expect((await transcript(next.origin, key, conversationId)).slice(2)).toEqual(['user: Bye', 'assistant: Done.']);
});

test('npm start runs the service and passes SIGTERM to it', async () => {
  const service = await startedDemo(['npm', 'start', '--silent']);
  const { origin, key, agentId } = service;
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const running = json(call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Wait' }));
  await server.received(1);
  service.child.kill('SIGTERM');
  await untilDraining(origin);
  gate.push('Done.');
  gate.end();
  expect((await running).messages[0].content).toBe('Done.');
  await expectPromptExit(service);
});

test('logs and responses contain neither keys nor what people wrote', async () => {
  const service = await startedDemo();
  const { origin, key, agentId } = service;
  server.script({
    status: 401,
    message: 'Incorrect API key provided: compatible-secret-1, prompt: SESAME, Private words',
  });
  const refused = await call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Private words' });
  expect(refused.status).toBe(502);
  expect(await refused.text()).not.toMatch(/compatible-secret|SESAME|Private words/);
  server.script({ reply: 'Private answer' });
  await json(call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Private words' }));
  service.child.kill('SIGTERM');
  await service.ended;
  const { stdout, stderr } = service.output();
  expect(stdout).toContain('MODEL_PROVIDER_ERROR');
  const log = stdout.split('\n').filter((line) => !line.startsWith('demo key'));
  expect(`${log.join('\n')}${stderr}`).not.toMatch(/compatible-secret|SESAME|Private|gsk_/);
});
