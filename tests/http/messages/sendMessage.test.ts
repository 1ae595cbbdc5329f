// Long because the operation has fourteen outcomes, and each is tested with the state that it leaves behind.
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestApp, type TestApp, type TestClock } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import {
  begun,
  conversation,
  conversationsOf,
  customModel,
  draftAgent,
  GPT,
  HAIKU,
  LOCAL,
  publishedAgent,
  said,
  send,
  stored,
  transcript,
  UUID,
} from './turns.ts';

const NO_ANSWER = '[The model gave no answer, also when it was asked again. Send the message again.]';

let server: ModelServer;
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings() });
  agentId = await publishedAgent(app, { systemPrompt: 'Be brief.' });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
});

const pause = (id: string, paused: boolean) =>
  app.workspace.db.updateTable('conversations').set({ is_paused: paused }).where('id', '=', id).execute();

describe('200', () => {
  test('returns the reply, its usage and cost, the conversation and the stored message, and no other fields', async () => {
    const priced = await publishedAgent(app, { aiModelPublicId: GPT });
    server.script({ reply: ['Good ', 'day.'], usage: { input: 1000, output: 50 } });
    const { body } = await send(app, priced, { content: 'Hello?', externalUserId: 'user-1' }).expect(200);
    const now = app.clock.now().toISOString();
    expect(body).toEqual({
      conversationId: expect.stringMatching(UUID),
      messages: [{ role: 'assistant', content: 'Good day.' }],
      usage: { inputTokens: 1000, outputTokens: 50, totalCost: 0.0024 },
      conversation: {
        publicId: body.conversationId,
        agentPublicId: priced,
        channel: 'api',
        externalUserId: 'user-1',
        isTest: false,
        isPaused: false,
        isEnded: false,
        messageCount: 2,
        metadata: {},
        startedAt: now,
        lastMessageAt: now,
      },
      message: {
        publicId: expect.stringMatching(UUID),
        conversationPublicId: body.conversationId,
        role: 'assistant',
        content: 'Good day.',
        ui: null,
        audioUrl: null,
        model: 'gpt-4.1',
        tokenUsage: { inputTokens: 1000, outputTokens: 50, totalTokens: 1050 },
        costUsd: 0.0024,
        costOps: 1,
        sentAt: now,
      },
      durationMs: expect.any(Number),
      pendingApprovals: [],
    });
  });

  test('the response equals what is stored: the conversation, the user message and the reply', async () => {
    const { body } = await send(app, agentId, { content: 'Read me back.' }).expect(200);
    expect(await conversation(app, body.conversationId)).toEqual(body.conversation);
    const [question, reply, ...more] = await stored(app, body.conversationId);
    expect(more).toEqual([]);
    expect(reply).toEqual(body.message);
    expect(question).toEqual({
      publicId: expect.stringMatching(UUID),
      conversationPublicId: body.conversationId,
      role: 'user',
      content: 'Read me back.',
      ui: null,
      audioUrl: null,
      model: null,
      tokenUsage: null,
      costUsd: null,
      costOps: 0,
      sentAt: app.clock.now().toISOString(),
    });
    const [item] = await conversationsOf(app, body.conversation.externalUserId);
    expect(item).toMatchObject({
      publicId: body.conversationId,
      messageCount: 2,
      lastMessageSnippet: 'Hello from the model.',
    });
  });

  test('attachments of null are none, and variables of null are no values', async () => {
    const metadata = { variables: null, approvals: null };
    const { body } = await send(app, agentId, { content: 'Hi', attachments: null, metadata }).expect(200);
    const { conversationId } = body;
    await send(app, agentId, { content: 'Hi', conversationId, attachments: [], metadata }).expect(200);
    const refused = await send(app, agentId, { attachments: null }).expect(400);
    expect(refused.body.details).toMatchObject([{ path: '/body/content', keyword: 'required' }]);
  });

  test('a new conversation stores isTest and metadata, and gets a UUID as its user when the request names none', async () => {
    const metadata = { source: { page: '/prices' }, tags: ['a', null, 1.5], variables: { unknown: 'kept' } };
    const { body } = await send(app, agentId, { content: 'Hi', isTest: true, metadata }).expect(200);
    expect(body.conversation).toMatchObject({ isTest: true, metadata });
    expect(body.conversation.externalUserId).toMatch(UUID);
    expect((await conversation(app, body.conversationId)).metadata).toEqual(metadata);
  });

  test('the model gets a continued conversation in order; user, test flag and metadata stay those of the first message', async () => {
    server.script({ reply: 'One.' }, { reply: 'Two.' }, { reply: 'Three.' });
    const first = await send(app, agentId, { content: '1?', externalUserId: 'first', metadata: { a: 1 } }).expect(200);
    const conversationId = first.body.conversationId;
    (app.clock as TestClock).advance(60_000);
    const later = { externalUserId: 'second', isTest: true, metadata: { b: 2 } };
    const second = await send(app, agentId, { content: '2?', conversationId, ...later }).expect(200);
    const third = await send(app, agentId, { content: '3?', conversationId: conversationId.toUpperCase() }).expect(200);
    expect(second.body.conversation).toEqual({
      ...first.body.conversation,
      messageCount: 4,
      lastMessageAt: app.clock.now().toISOString(),
    });
    expect(third.body).toMatchObject({ conversationId, conversation: { messageCount: 6 } });
    expect(await transcript(app, conversationId)).toEqual([
      'user: 1?',
      'assistant: One.',
      'user: 2?',
      'assistant: Two.',
      'user: 3?',
      'assistant: Three.',
    ]);
    expect(said(server.requests[2])).toEqual([
      'system: Be brief.',
      'user: 1?',
      'assistant: One.',
      'user: 2?',
      'assistant: Two.',
      'user: 3?',
    ]);
  });

  test('adds tokens and costs to the totals of the conversation', async () => {
    const priced = await publishedAgent(app, { aiModelPublicId: await customModel(app.workspace, { price: 1 }) });
    server.script({ reply: 'a', usage: { input: 100, output: 10 } }, { reply: 'b', usage: { input: 200, output: 20 } });
    const conversationId = await begun(app, priced);
    const { body } = await send(app, priced, { content: 'More', conversationId }).expect(200);
    expect(body.usage).toEqual({ inputTokens: 200, outputTokens: 20, totalCost: 0.00022 });
    expect((await stored(app, conversationId)).map(({ costUsd }) => costUsd)).toEqual([null, 0.00011, null, 0.00022]);
    const row = await app.workspace.db
      .selectFrom('conversations')
      .select(['input_tokens', 'output_tokens', 'cost_usd', 'message_count', 'turn_id'])
      .where('id', '=', conversationId)
      .executeTakeFirst();
    expect(row).toEqual({ input_tokens: 300, output_tokens: 30, cost_usd: 0.00033, message_count: 4, turn_id: null });
  });

  test('runs the version that is published at the time of each message, also within one conversation', async () => {
    const id = await publishedAgent(app, { systemPrompt: 'Version one.', aiModelPublicId: GPT, temperature: 0.5 });
    const conversationId = await begun(app, id);
    await app
      .api('patch', `/agents/${id}`)
      .send({ systemPrompt: 'Version two.', aiModelPublicId: LOCAL, temperature: 1 })
      .expect(200);
    await send(app, id, { content: 'Still one?', conversationId }).expect(200);
    expect(server.requests[1]).toMatchObject({
      wire: 'openai-responses',
      body: { model: 'gpt-4.1', temperature: 0.5 },
    });
    expect(said(server.requests[1])[0]).toBe('system: Version one.');
    await app.api('post', `/agents/${id}/publish`).send({}).expect(200);
    await send(app, id, { content: 'And now?', conversationId }).expect(200);
    expect(server.requests[2]).toMatchObject({ wire: 'openai-chat', body: { model: 'local-model', temperature: 1 } });
    expect(said(server.requests[2])[0]).toBe('system: Version two.');
  });

  test('thinking is sent to each provider in the form of its API', async () => {
    const claude = await publishedAgent(app, { aiModelPublicId: HAIKU, thinkingEnabled: true, thinkingEffort: 'high' });
    await send(app, claude, { content: 'Think.' }).expect(200);
    expect(server.requests[0]).toMatchObject({ wire: 'anthropic', body: { thinking: { type: 'enabled' } } });
    const plain = await publishedAgent(app, { aiModelPublicId: HAIKU, temperature: 0.25 });
    await send(app, plain, { content: 'Do not.' }).expect(200);
    expect(server.requests[1]?.body).toMatchObject({ temperature: 0.25 });
    expect(server.requests[1]?.body.thinking).not.toMatchObject({ type: 'enabled' });
  });

  test('a reply that stays empty says so, and the conversation can be continued', async () => {
    server.script({ reply: '' }, { reply: '' });
    const conversationId = await begun(app, agentId);
    await send(app, agentId, { content: 'Go on', conversationId }).expect(200);
    expect(await transcript(app, conversationId)).toEqual([
      'user: Hello.',
      `assistant: ${NO_ANSWER}`,
      'user: Go on',
      'assistant: Hello from the model.',
    ]);
    expect(said(server.requests[2])).toEqual([
      'system: Be brief.',
      'user: Hello.',
      `assistant: ${NO_ANSWER}`,
      'user: Go on',
    ]);
  });

  test('characters that the database cannot store are removed from a reply', async () => {
    server.script({ reply: 'nul \u0000 and half \ud83d.' });
    const { body } = await send(app, agentId, { content: 'Hm' }).expect(200);
    expect(body.message.content).toBe('nul  and half \ufffd.');
    expect((await stored(app, body.conversationId))[1]?.content).toBe(body.message.content);
  });
});

describe('variables', () => {
  let id: string;
  const system = (request: number) => said(server.requests[request])[0];
  beforeAll(async () => {
    id = await publishedAgent(app, {
      systemPrompt: 'Serve {{customer}} in {{ city }}, VIP: {{vip}}. {{nobody}}',
      dynamicPromptEnabled: true,
      variables: [
        { name: 'customer', label: 'Customer', type: 'text_short', required: true },
        { name: 'city', label: 'City', type: 'text_short', defaultValue: 'Lisbon' },
        { name: 'vip', label: 'VIP', type: 'bool', booleanTextWhenTrue: 'yes', booleanTextWhenFalse: 'no' },
      ],
    });
  });

  test('values of the first message hold for the whole conversation, those of a later message for its own turn only', async () => {
    const variables = { customer: 'ACME', vip: true, extra: 'ignored' };
    const { body } = await send(app, id, { content: 'a', metadata: { variables } }).expect(200);
    const { conversationId } = body;
    await send(app, id, { content: 'b', conversationId }).expect(200);
    await send(app, id, {
      content: 'c',
      conversationId,
      metadata: { variables: { city: 'Porto', vip: false } },
    }).expect(200);
    await send(app, id, { content: 'd', conversationId }).expect(200);
    expect([0, 1, 2, 3].map(system)).toEqual([
      'system: Serve ACME in Lisbon, VIP: yes. {{nobody}}',
      'system: Serve ACME in Lisbon, VIP: yes. {{nobody}}',
      'system: Serve ACME in Porto, VIP: no. {{nobody}}',
      'system: Serve ACME in Lisbon, VIP: yes. {{nobody}}',
    ]);
    expect((await conversation(app, conversationId)).metadata).toEqual({ variables });
  });

  test('a stored value that a later version does not accept is ignored', async () => {
    const variable = { name: 'level', label: 'Level', type: 'text_short', defaultValue: 'low' } as const;
    const changing = await publishedAgent(app, {
      systemPrompt: 'Level {{level}}.',
      dynamicPromptEnabled: true,
      variables: [variable],
    });
    const first = await send(app, changing, { content: 'a', metadata: { variables: { level: 'high' } } }).expect(200);
    const { body: list } = await app.api('get', `/agents/${changing}/prompt/variables`).expect(200);
    await app
      .api('patch', `/agents/${changing}/prompt/variables/${list[0].publicId}`)
      .send({ type: 'number', defaultValue: 7 })
      .expect(200);
    await app.api('post', `/agents/${changing}/publish`).send({}).expect(200);
    await send(app, changing, { content: 'b', conversationId: first.body.conversationId }).expect(200);
    expect([0, 1].map(system)).toEqual(['system: Level high.', 'system: Level 7.']);
  });

  test('422 MISSING_VARIABLE names what is missing, and stores nothing', async () => {
    const { status, body } = await send(app, id, { content: 'a', externalUserId: 'missing-variable' });
    expect([status, body.code]).toEqual([422, 'MISSING_VARIABLE']);
    expect(body.message).toContain('customer');
    expect(await conversationsOf(app, 'missing-variable')).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test('400 VALIDATION_ERROR for a value of the wrong type says which, and stores nothing', async () => {
    const metadata = { variables: { customer: 7, vip: 'yes', city: 'Faro' } };
    const { status, body } = await send(app, id, { content: 'a', externalUserId: 'wrong-type', metadata });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      '/body/metadata/variables/customer',
      '/body/metadata/variables/vip',
    ]);
    expect(await conversationsOf(app, 'wrong-type')).toEqual([]);
  });

  test('while dynamic prompts are off references stay in the prompt unchanged', async () => {
    const fixed = await publishedAgent(app, { systemPrompt: 'Serve {{customer}}.' });
    await send(app, fixed, { content: 'a', metadata: { variables: { customer: 7 } } }).expect(200);
    expect(system(0)).toBe('system: Serve {{customer}}.');
  });
});

describe('400 VALIDATION_ERROR', () => {
  const png = { base64: 'iVBORw0KGgo=' };
  test.each([
    ['neither text nor attachment', {}],
    ['an empty text alone', { content: '' }],
    ['an empty text and no attachment in the list', { content: '', attachments: [] }],
    ['a text of 32,001 characters', { content: 'a'.repeat(32_001) }],
    ['eleven attachments', { content: 'a', attachments: Array(11).fill(png) }],
    ['an attachment without content', { content: 'a', attachments: [{ filename: 'a.png' }] }],
    ['an attachment with two contents', { content: 'a', attachments: [{ ...png, url: 'https://example.com/a.png' }] }],
    ['broken base64', { content: 'a', attachments: [{ base64: '???' }] }],
    ['a timeout of 0', { content: 'a', timeoutSeconds: 0 }],
    ['a timeout of 301', { content: 'a', timeoutSeconds: 301 }],
    ['variables that are no object', { content: 'a', metadata: { variables: ['x'] } }],
    ['a conversation id that is no UUID', { content: 'a', conversationId: '17' }],
    ['an unknown field', { content: 'a', stream: true }],
  ])('%s', async (_what, message) => {
    const { status, body } = await send(app, agentId, { externalUserId: 'bad-body', ...message });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await conversationsOf(app, 'bad-body')).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test.each([
    [{}, '/body/content', 'required'],
    [{ content: '', attachments: [] }, '/body/content', 'minLength'],
    [{ content: 'a'.repeat(32_001) }, '/body/content', 'maxLength'],
  ])('of text and attachments (%#) has one detail, which names the field', async (message, path, keyword) => {
    const { body } = await send(app, agentId, message).expect(400);
    expect(body.details).toEqual([{ path, message: expect.any(String), keyword }]);
  });

  test('an attachment with no content, and one with two, is told what is wrong with it', async () => {
    const attachments = [{}, png, { ...png, url: 'https://example.com/a.png' }, { base64: 7 }];
    const { body } = await send(app, agentId, { content: 'a', attachments }).expect(400);
    expect(body.details).toEqual([
      { path: '/body/attachments/0/url', message: 'is required when base64 is left out', keyword: 'required' },
      { path: '/body/attachments/2/url', message: 'must be left out when base64 is given', keyword: 'not' },
      { path: '/body/attachments/3/base64', message: 'must be string', keyword: 'type' },
    ]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const deleted = await publishedAgent(app);
    await app.api('delete', `/agents/${deleted}`).expect(204);
    const foreign = await publishedAgent(app, {}, app.stranger.apiKey);
    const answers = [];
    for (const id of [randomUUID(), deleted, foreign]) {
      const { status, body } = await send(app, id, { content: 'Anybody?' });
      const { requestId: _requestId, ...rest } = body;
      answers.push({ status, ...rest });
    }
    expect(answers[0]).toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(server.requests).toEqual([]);
  });
});

describe('404 CONVERSATION_NOT_FOUND', () => {
  test('an unknown conversation, a deleted one, another agent’s and another workspace’s get the same response', async () => {
    const deleted = await begun(app, agentId);
    await app.api('delete', `/conversations/${deleted}`).expect(204);
    const otherAgents = await begun(app, await publishedAgent(app));
    const stranger = app.stranger.apiKey;
    const foreign = await begun(app, await publishedAgent(app, {}, stranger), 'Hello.', stranger);
    server.reset();
    const answers = [];
    for (const conversationId of [randomUUID(), deleted, otherAgents, foreign]) {
      const { status, body } = await send(app, agentId, { content: 'Still there?', conversationId });
      const { requestId: _requestId, ...rest } = body;
      answers.push({ status, ...rest });
    }
    const message = 'The agent has no conversation with this id.';
    expect(answers[0]).toMatchObject({ status: 404, code: 'CONVERSATION_NOT_FOUND', message });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(server.requests).toEqual([]);
    expect(await transcript(app, otherAgents)).toHaveLength(2);
    expect(await transcript(app, foreign, stranger)).toHaveLength(2);
  });
});

describe('408 AGENT_TIMEOUT', () => {
  test('ends the model call, keeps the message, and leaves the conversation free at once', async () => {
    server.script({ silence: true });
    const message = { content: 'Anybody?', externalUserId: 'patient', timeoutSeconds: 1 };
    const { status, body } = await send(app, agentId, message);
    expect([status, body.code]).toEqual([408, 'AGENT_TIMEOUT']);
    expect(await server.requests[0]?.closed).toBe(true);
    const [left] = await conversationsOf(app, 'patient');
    const conversationId = left?.publicId ?? '';
    expect(await transcript(app, conversationId)).toEqual(['user: Anybody?']);
    expect(left).toMatchObject({ messageCount: 1, lastMessageSnippet: 'Anybody?' });
    await send(app, agentId, { content: 'Again', conversationId, timeoutSeconds: 10 }).expect(200);
    expect(said(server.requests[1])).toEqual(['system: Be brief.', 'user: Anybody?', 'user: Again']);
  });

  test('includes the time to fetch an attachment; the text is kept then too', async () => {
    const slow = await listening(createServer(() => {}));
    const local = await startTestApp({ models: server.settings(), database: app.database, allowPrivateNetwork: true });
    try {
      const agent = await publishedAgent(app, { aiModelPublicId: GPT });
      const attachments = [{ url: `${slow.url}/slow.png` }];
      for (const conversationId of [undefined, await begun(app, agent)]) {
        const message = {
          content: 'Look',
          attachments,
          timeoutSeconds: 1,
          conversationId,
          externalUserId: 'slow-file',
        };
        const { status, body } = await send(local, agent, message, app.workspace.apiKey);
        expect([status, body.code]).toEqual([408, 'AGENT_TIMEOUT']);
        const id = conversationId ?? (await conversationsOf(app, 'slow-file'))[0]?.publicId ?? '';
        expect((await transcript(app, id)).at(-1)).toBe('user: Look');
        await send(app, agent, { content: 'Without it', conversationId: id, timeoutSeconds: 10 }).expect(200);
      }
    } finally {
      await local.close();
      slow.close();
    }
  });
});

describe('422 AGENT_NOT_PUBLISHED', () => {
  test('for an agent that was never published, and for one that was deactivated', async () => {
    const draft = await draftAgent(app);
    const inactive = await publishedAgent(app);
    const archived = await publishedAgent(app);
    const { db } = app.workspace;
    await db.updateTable('agents').set({ status: 'inactive' }).where('id', '=', inactive).execute();
    await db
      .updateTable('agents')
      .set({ status: 'archived', draft_version_number: null })
      .where('id', '=', archived)
      .execute();
    for (const id of [draft, inactive, archived]) {
      const { status, body } = await send(app, id, { content: 'Hi', externalUserId: 'unpublished' });
      expect([status, body.code]).toEqual([422, 'AGENT_NOT_PUBLISHED']);
    }
    expect(await conversationsOf(app, 'unpublished')).toEqual([]);
  });
});

describe.each([
  ['CONVERSATION_PAUSED', { is_paused: true }],
  ['CONVERSATION_ENDED', { is_ended: true }],
])('422 %s', (code, state) => {
  test('stores no message and calls no model', async () => {
    const conversationId = await begun(app, agentId);
    await app.workspace.db.updateTable('conversations').set(state).where('id', '=', conversationId).execute();
    const { status, body } = await send(app, agentId, { content: 'Hello?', conversationId });
    expect([status, body.code]).toEqual([422, code]);
    expect(await transcript(app, conversationId)).toHaveLength(2);
    expect(server.requests).toHaveLength(1);
  });
});

describe('422 CONVERSATION_PAUSED', () => {
  test('ends with the pause', async () => {
    const conversationId = await begun(app, agentId);
    await pause(conversationId, true);
    await send(app, agentId, { content: 'Hello?', conversationId }).expect(422);
    await pause(conversationId, false);
    await send(app, agentId, { content: 'Hello?', conversationId }).expect(200);
  });
});

describe('502 MODEL_PROVIDER_ERROR', () => {
  const failures = [
    ['a refused key', { status: 401, message: 'Incorrect API key provided: sk-proj-test0123456789abcdef' }],
    ['a rate limit', { status: 429 }],
    ['a failure', { status: 500, message: 'boom' }],
    ['a web page', { status: 502, body: '<html>Bad gateway</html>' }],
    ['a connection cut before the answer', { hangUp: true }],
    ['a connection cut within the answer', { reply: 'Half an ans', ending: 'cut' }],
    ['nonsense', { reply: 'x', ending: 'garbage' }],
  ] as const;

  test.each(failures)(
    '%s: the message is kept, the conversation can be continued, and no secret is shown',
    async (_what, step) => {
      const agent = await publishedAgent(app, { aiModelPublicId: GPT, systemPrompt: 'Keep SESAME to yourself.' });
      server.script(step);
      const { status, body, text } = await send(app, agent, { content: 'Open up.', externalUserId: agent });
      expect([status, body.code]).toEqual([502, 'MODEL_PROVIDER_ERROR']);
      expect(text).not.toMatch(/sk-proj|SESAME|Open up/);
      const [left] = await conversationsOf(app, agent);
      expect(left).toMatchObject({ messageCount: 1, lastMessageSnippet: 'Open up.' });
      const conversationId = left?.publicId ?? '';
      expect(await transcript(app, conversationId)).toEqual(['user: Open up.']);
      await send(app, agent, { content: 'And now?', conversationId, timeoutSeconds: 10 }).expect(200);
      expect(await transcript(app, conversationId)).toEqual([
        'user: Open up.',
        'user: And now?',
        'assistant: Hello from the model.',
      ]);
    },
  );

  test('a provider that is not configured, one without a key, and a model that was removed', async () => {
    const down = await listening(createServer());
    down.close();
    const local = await startTestApp({
      models: { openaiCompatible: { baseUrl: `${down.url}/v1`, models: ['local-model'] }, retries: 0 },
      database: app.database,
    });
    const own = await customModel(app.workspace);
    const orphan = await publishedAgent(app, { aiModelPublicId: own });
    await app.workspace.db.updateTable('ai_models').set({ deleted_at: new Date() }).where('id', '=', own).execute();
    try {
      for (const id of [agentId, await publishedAgent(app, { aiModelPublicId: GPT }), orphan]) {
        const externalUserId = randomUUID();
        const { status, body } = await send(local, id, { content: 'Hi', externalUserId }, app.workspace.apiKey);
        expect([status, body.code]).toEqual([502, 'MODEL_PROVIDER_ERROR']);
        const [left] = await conversationsOf(app, externalUserId);
        expect(await transcript(app, left?.publicId ?? '')).toEqual(['user: Hi']);
      }
    } finally {
      await local.close();
    }
  });
});

async function listening(http: Server): Promise<{ url: string; close(): void }> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const close = () => {
    http.closeAllConnections();
    http.close();
  };
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close };
}
