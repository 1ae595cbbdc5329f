import { once } from 'node:events';
import { connect } from 'node:net';
import { API_PREFIX } from '../../generated/operations.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { gatedReply, type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { demoFolder } from './demoFolder.ts';
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
  untilPortClosed,
} from './service.ts';

const LOCAL = globalModelId('openai-compatible', 'local-model');

let server: ModelServer;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  server.reset();
  env = {
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  };
});
afterEach(cleanUp);
afterAll(() => server.close());

/** Starts the service, with its demo agent on the test's model. */
async function startedDemo(command?: string[]): Promise<ServiceProcess & { agentId: string; key: string }> {
  const { dataDir, agentId, key } = await demoFolder();
  env.GUILDHALL_DATA_DIR = dataDir;
  const service = await startService(env, command);
  await json(
    call(service.origin, key, 'PATCH', `/agents/${agentId}`, { aiModelPublicId: LOCAL, systemPrompt: 'SESAME' }),
  );
  await json(call(service.origin, key, 'POST', `/agents/${agentId}/publish`, {}));
  return { ...service, agentId, key };
}

test('the first start creates the demo workspace and shows its key; the next one keeps both and shows nothing', async () => {
  env.GUILDHALL_DATA_DIR = await freshFolder();
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

test('SIGTERM: running requests are finished and stored, new ones are not taken, and the exit code is 0', async () => {
  const service = await startedDemo();
  const { origin, key, agentId } = service;
  const [blockingGate, streamGate] = [gatedReply(), gatedReply()];
  server.script({ reply: blockingGate.chunks }, { reply: streamGate.chunks });
  const blocking = json(call(origin, key, 'POST', `/agents/${agentId}/messages`, { content: 'Wait for me' }));
  await server.received(1);
  const stream = await call(origin, key, 'POST', `/agents/${agentId}/messages/stream`, { content: 'And me' });
  await server.received(2);
  service.child.kill('SIGTERM');
  await untilPortClosed(origin);

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

  const next = await startService(env);
  expect(await transcript(next.origin, key, answer.conversationId)).toEqual([
    'user: Wait for me',
    'assistant: Here I am.',
  ]);
  const streamed = /"conversationId":"([^"]+)"/.exec(events)?.[1] ?? '';
  expect(await transcript(next.origin, key, streamed)).toEqual(['user: And me', 'assistant: Here I am.']);
});

test('SIGTERM: a request that comes late, on a connection that is in use, gets 503', async () => {
  const { child, origin, key, agentId, ended } = await startedDemo();
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  const request = (line: string, body: string) =>
    `${line} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  socket.write(request(`POST ${API_PREFIX}/agents/${agentId}/messages/stream`, '{"content":"Wait"}'));
  await server.received(1);
  child.kill('SIGTERM');
  await untilPortClosed(origin);
  socket.write(request(`GET ${API_PREFIX}/agents`, '') + request(`POST ${API_PREFIX}/agents`, '{"name":"Late"}'));
  gate.push('Here I am.');
  gate.end();
  await once(socket, 'close');
  const [stream = '', late = '', last = ''] = received.split('HTTP/1.1 ').slice(1);
  expect(stream).toContain('event: debug-info');
  for (const answer of [late, last]) {
    expect(answer).toMatch(/^503 .*"code":"UNAVAILABLE"/s);
    expect(answer).toMatch(/^Retry-After: \d+\r$/m);
  }
  // The last one ends the connection.
  expect(last).toMatch(/\r\nConnection: close\r\n/);
  await expectPromptExit({ ended });
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
  await untilPortClosed(origin);
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
  await untilPortClosed(origin);
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
  expect(`${stdout}${stderr}`).not.toMatch(/compatible-secret|SESAME|Private|gsk_/);
});
