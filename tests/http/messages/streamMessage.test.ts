// Long because it tests the events of a successful stream and of every kind of failure.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { jest } from '@jest/globals';
import { fault } from '../../../core/errors.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type Event, Stream } from '../../support/http/stream.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import {
  begun,
  conversation,
  conversationsOf,
  customModel,
  draftAgent,
  GPT,
  publishedAgent,
  said,
  stored,
  transcript,
} from './turns.ts';

let server: ModelServer;
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings() });
  agentId = await publishedAgent(app);
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
});

function post(
  agent: string,
  body: object | string,
  options: { key?: string; type?: string; signal?: AbortSignal } = {},
) {
  return fetch(`${app.origin}/public/api/v1/agents/${agent}/messages/stream`, {
    method: 'POST',
    headers: { 'X-Api-Key': options.key ?? app.workspace.apiKey, 'Content-Type': options.type ?? 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: options.signal ?? null,
  });
}

const open = async (body: object, agent = agentId, options = {}) => new Stream(await post(agent, body, options));

describe('200', () => {
  test('has the events in order, each with exactly its fields, and stores the reply as it was sent', async () => {
    const agent = await publishedAgent(app, { aiModelPublicId: GPT });
    server.script({ reply: ['Good ', 'day', ', Ä 🙂.'], usage: { input: 1000, output: 50 } });
    const stream = await open({ content: 'Hello?', externalUserId: 'streamer', timeoutSeconds: 1 }, agent);
    expect(stream.response.status).toBe(200);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    const [first, ...others] = await stream.rest();
    const last = others.pop();
    const [found] = await conversationsOf(app, 'streamer');
    const conversationId = found?.publicId ?? '';
    const [question, reply] = await stored(app, conversationId);
    expect(first).toEqual({ event: 'conversation-id', data: { conversationId } });
    expect(others).toEqual(['Good ', 'day', ', Ä 🙂.'].map((text) => ({ event: 'text-delta', data: { text } })));
    expect(last).toEqual({
      event: 'debug-info',
      data: {
        inputTokens: 1000,
        outputTokens: 50,
        totalTokens: 1050,
        totalCost: 0.0024,
        model: 'gpt-4.1',
        finishReason: 'stop',
        durationMs: expect.any(Number),
        messagePublicId: reply?.publicId,
        toolCalls: [],
        pendingApprovals: [],
      },
    });
    expect(question).toMatchObject({ role: 'user', content: 'Hello?' });
    expect(reply).toMatchObject({ role: 'assistant', content: 'Good day, Ä 🙂.', costUsd: 0.0024, costOps: 1 });
    expect(await conversation(app, conversationId)).toMatchObject({ messageCount: 2 });
  });

  test('each piece reaches the client before the model has the next', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const stream = await open({ content: 'Slowly' });
    expect(await stream.next()).toMatchObject({ event: 'conversation-id' });
    for (const text of ['One', ' two', ' three']) {
      gate.push(text);
      expect(await stream.next()).toEqual({ event: 'text-delta', data: { text } });
    }
    gate.end();
    expect((await stream.rest()).map(({ event }) => event)).toEqual(['debug-info']);
  });

  test('continues a conversation like sendMessage', async () => {
    const conversationId = await begun(app, agentId);
    const stream = await open({ content: 'More', conversationId: conversationId.toUpperCase() });
    expect(await stream.next()).toEqual({ event: 'conversation-id', data: { conversationId } });
    expect((await stream.rest()).at(-1)?.event).toBe('debug-info');
    expect(said(server.requests[1])).toEqual(['user: Hello.', 'assistant: Hello from the model.', 'user: More']);
  });

  test('a client that disconnects does not stop the turn: it is completed and stored', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const leaving = new AbortController();
    const stream = await open({ content: 'Bye', externalUserId: 'leaver' }, agentId, { signal: leaving.signal });
    await stream.next();
    gate.push('Still ');
    expect(await stream.next()).toMatchObject({ data: { text: 'Still ' } });
    leaving.abort();
    await expect(stream.next()).rejects.toThrow();
    gate.push('here.');
    gate.end();
    await app.service.runtime.turns.idle();
    expect(await server.requests[0]?.closed).toBe(false);
    const [left] = await conversationsOf(app, 'leaver');
    expect(await transcript(app, left?.publicId ?? '')).toEqual(['user: Bye', 'assistant: Still here.']);
  });

  test('a slow client does not delay the turn, and gets all events in the end', async () => {
    const piece = 'x'.repeat(10_000);
    const pieces = Array<string>(80).fill(piece);
    server.script({ reply: pieces });
    const body = JSON.stringify({ content: 'All of it', externalUserId: 'slow-reader' });
    const { port } = new URL(app.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    socket.write(
      `POST /public/api/v1/agents/${agentId}/messages/stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
        `X-Api-Key: ${app.workspace.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await server.received(1);
    await app.service.runtime.turns.idle();
    const [done] = await conversationsOf(app, 'slow-reader');
    expect((await stored(app, done?.publicId ?? ''))[1]?.content).toHaveLength(800_000);
    let read = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      read += chunk;
    });
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(read.split(piece)).toHaveLength(81);
    expect(read).toContain('event: debug-info');
  });
});

describe('a plain error before the stream begins', () => {
  const code = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code];

  test.each([
    ['no content', {}],
    ['broken base64', { content: 'a', attachments: [{ base64: '???' }] }],
    ['variables that are no object', { content: 'a', metadata: { variables: 'x' } }],
  ])('400 VALIDATION_ERROR: %s', async (_what, body) => {
    const response = await post(agentId, body);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await code(response)).toEqual([400, 'VALIDATION_ERROR']);
  });

  test('400 VALIDATION_ERROR: a variable of the wrong type', async () => {
    const agent = await publishedAgent(app, {
      systemPrompt: '{{age}}',
      dynamicPromptEnabled: true,
      variables: [{ name: 'age', label: 'Age', type: 'number' }],
    });
    const response = await post(agent, { content: 'a', metadata: { variables: { age: 'old' } } });
    expect(await code(response)).toEqual([400, 'VALIDATION_ERROR']);
  });

  test('401, 404 and 415', async () => {
    expect(await code(await post(agentId, { content: 'a' }, { key: 'wrong' }))).toEqual([
      401,
      'INVALID_API_KEY_FORMAT',
    ]);
    expect(await code(await post(agentId, 'a', { type: 'text/plain' }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const foreign = { key: app.stranger.apiKey };
    expect(await code(await post(randomUUID(), { content: 'a' }))).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(await code(await post(agentId, { content: 'a' }, foreign))).toEqual([404, 'AGENT_NOT_FOUND']);
    const conversationId = randomUUID();
    expect(await code(await post(agentId, { content: 'a', conversationId }))).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    const others = await begun(app, await publishedAgent(app));
    expect(await code(await post(agentId, { content: 'a', conversationId: others }))).toEqual([
      404,
      'CONVERSATION_NOT_FOUND',
    ]);
  });
});

describe('one error event, and nothing after it', () => {
  /** The events of a stream that fails. */
  async function failed(body: object, agent = agentId, options = {}): Promise<Event[]> {
    const stream = await open(body, agent, options);
    expect(stream.response.status).toBe(200);
    const events = await stream.rest();
    expect(events.at(-1)).toEqual({
      event: 'error',
      data: {
        code: expect.any(String),
        message: expect.any(String),
        status: expect.any(Number),
        requestId: stream.response.headers.get('x-request-id'),
      },
    });
    return events;
  }
  const outcome = (events: Event[]) =>
    events.map(({ event, data }) => (data.code ? `${data.status} ${data.code}` : event));

  test('422: an agent that is not published, a conversation that is paused or ended, a missing variable, a wrong attachment', async () => {
    expect(outcome(await failed({ content: 'a' }, await draftAgent(app)))).toEqual(['422 AGENT_NOT_PUBLISHED']);
    for (const [state, code] of [
      [{ is_paused: true }, 'CONVERSATION_PAUSED'],
      [{ is_ended: true }, 'CONVERSATION_ENDED'],
    ] as const) {
      const conversationId = await begun(app, agentId);
      await app.workspace.db.updateTable('conversations').set(state).where('id', '=', conversationId).execute();
      expect(outcome(await failed({ content: 'a', conversationId }))).toEqual([`422 ${code}`]);
    }
    const demanding = await publishedAgent(app, {
      systemPrompt: '{{name}}',
      dynamicPromptEnabled: true,
      variables: [{ name: 'name', label: 'Name', type: 'text_short', required: true }],
    });
    expect(outcome(await failed({ content: 'a' }, demanding))).toEqual(['422 MISSING_VARIABLE']);
    const attachments = [{ base64: Buffer.from('text').toString('base64') }];
    expect(outcome(await failed({ content: 'a', attachments }))).toEqual(['422 UNSUPPORTED_ATTACHMENT']);
    const seer = await publishedAgent(app, { aiModelPublicId: await customModel(app.workspace, { document: true }) });
    const large = [{ base64: Buffer.alloc(1_048_577, 'a').toString('base64') }];
    expect(outcome(await failed({ attachments: large }, seer))).toEqual(['422 ATTACHMENT_TOO_LARGE']);
  });

  test('429 OPERATION_LIMIT_REACHED', async () => {
    const { apiKey } = await app.database.seedWorkspace({ operationLimit: 0 });
    const agent = await publishedAgent(app, {}, apiKey);
    expect(outcome(await failed({ content: 'a' }, agent, { key: apiKey }))).toEqual(['429 OPERATION_LIMIT_REACHED']);
  });

  test('502 MODEL_PROVIDER_ERROR, before and within the reply: the message is kept, and the conversation can be continued', async () => {
    server.script({ status: 500 });
    expect(outcome(await failed({ content: 'a' }))).toEqual(['conversation-id', '502 MODEL_PROVIDER_ERROR']);
    for (const ending of ['cut', 'eof', 'error-event', 'garbage'] as const) {
      server.script({ reply: ['Half ', 'an ans'], ending });
      const externalUserId = randomUUID();
      const events = await failed({ content: 'Well?', externalUserId });
      expect(outcome(events)).toEqual(['conversation-id', 'text-delta', 'text-delta', '502 MODEL_PROVIDER_ERROR']);
      const conversationId = String(events[0]?.data.conversationId);
      expect(await transcript(app, conversationId)).toEqual(['user: Well?']);
      const again = await (await open({ content: 'Again', conversationId })).rest();
      expect(again.at(-1)?.event).toBe('debug-info');
    }
  });

  test('408 AGENT_TIMEOUT after five minutes, whatever timeoutSeconds is; the partial reply is not stored', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setInterval', 'performance', 'Date'],
    });
    try {
      const stream = await open({ content: 'Well?', timeoutSeconds: 1 });
      const conversationId = String((await stream.next())?.data.conversationId);
      await server.received(1);
      jest.advanceTimersByTime(299_999);
      gate.push('Not yet.');
      expect(await stream.next()).toMatchObject({ event: 'text-delta' });
      jest.advanceTimersByTime(1);
      expect(outcome(await stream.rest())).toEqual(['408 AGENT_TIMEOUT']);
      expect(await server.requests[0]?.closed).toBe(true);
      expect(await transcript(app, conversationId)).toEqual(['user: Well?']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('503 UNAVAILABLE when the process stops before the reply is complete; another replica can continue at once', async () => {
    const stopping = await startTestApp({ models: server.settings(), database: app.database, clock: app.clock });
    const conversationId = await begun(app, await publishedAgent(app));
    server.script({ silence: true }, { silence: true });
    const { agentPublicId } = await conversation(app, conversationId);
    const url = `${stopping.origin}/public/api/v1/agents/${agentPublicId}/messages`;
    const request = (body: object) => ({
      method: 'POST',
      headers: { 'X-Api-Key': app.workspace.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    try {
      const stream = new Stream(await fetch(`${url}/stream`, request({ content: 'Streamed', conversationId })));
      const blocking = fetch(url, request({ content: 'Whole' }));
      await server.received(3);
      stopping.service.runtime.turns.abortAll(fault('UNAVAILABLE'));
      expect(outcome(await stream.rest())).toEqual(['conversation-id', '503 UNAVAILABLE']);
      const answer = await blocking;
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    } finally {
      await stopping.close();
    }
    const next = await (await open({ content: 'Next', conversationId }, agentPublicId)).rest();
    expect(next.at(-1)?.event).toBe('debug-info');
    expect((await transcript(app, conversationId)).slice(2, 4)).toEqual(['user: Streamed', 'user: Next']);
  });

  test('404 when the conversation is deleted meanwhile', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const stream = await open({ content: 'Forget me' });
    const first = await stream.next();
    await app.api('delete', `/conversations/${first?.data.conversationId}`).expect(204);
    gate.push('Soon.');
    gate.end();
    expect(outcome(await stream.rest())).toEqual(['text-delta', '404 CONVERSATION_NOT_FOUND']);
  });
});
