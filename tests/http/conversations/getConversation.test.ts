import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { addTurn, makeConversation } from './conversations.ts';

let app: TestApp;
let agentId: string;

beforeAll(async () => {
  app = await startTestApp();
  agentId = (await makeAgent(app)).publicId;
});
afterAll(() => app.close());

describe('200', () => {
  test('returns the conversation with its metadata unchanged', async () => {
    const metadata = {
      order: { id: 17, tags: ['a', null, true] },
      variables: { city: 'Lyon' },
      text: '🦊 "quoted" \\ ',
    };
    const id = await makeConversation(app, { agentId, metadata, isTest: true, externalUserId: 'Zoë 🦊' });
    const { status, body } = await app.api('get', `/conversations/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      publicId: id,
      agentPublicId: agentId,
      channel: 'api',
      externalUserId: 'Zoë 🦊',
      isTest: true,
      isPaused: false,
      isEnded: false,
      messageCount: 2,
      metadata,
      startedAt: '2026-03-01T12:00:00.000Z',
      lastMessageAt: '2026-03-01T12:00:00.000Z',
    });
  });

  test('metadata is {} when none was sent', async () => {
    const id = await makeConversation(app, { agentId });
    expect((await app.api('get', `/conversations/${id}`)).body.metadata).toEqual({});
  });

  test('counts the messages of both roles and has the time of the last', async () => {
    const conversationId = await makeConversation(app, { agentId });
    await addTurn(
      app,
      { conversationId, agentId },
      { question: 'And?', answer: 'So.', askedAt: '2026-03-02T08:00:00Z', answeredAt: '2026-03-02T08:00:05.250Z' },
    );
    const { body } = await app.api('get', `/conversations/${conversationId}`);
    expect(body).toMatchObject({
      messageCount: 4,
      startedAt: '2026-03-01T12:00:00.000Z',
      lastMessageAt: '2026-03-02T08:00:05.250Z',
    });
  });

  test('shows whether it is paused or ended, and its channel', async () => {
    const id = await makeConversation(app, { agentId, isPaused: true, isEnded: true, channel: 'z_api' });
    expect((await app.api('get', `/conversations/${id}`)).body).toMatchObject({
      isPaused: true,
      isEnded: true,
      channel: 'z_api',
    });
  });

  test('can be read after its agent is deleted', async () => {
    const gone = (await makeAgent(app)).publicId;
    const id = await makeConversation(app, { agentId: gone });
    await app.api('delete', `/agents/${gone}`);
    const { status, body } = await app.api('get', `/conversations/${id}`);
    expect([status, body.agentPublicId]).toEqual([200, gone]);
  });
});

describe('404 CONVERSATION_NOT_FOUND', () => {
  test('an unknown conversation, a deleted one and another workspace’s get the same response', async () => {
    const deleted = await makeConversation(app, { agentId });
    await app.api('delete', `/conversations/${deleted}`);
    const foreign = await makeConversation(app, {
      agentId: (await makeAgent(app, {}, app.stranger.apiKey)).publicId,
      workspace: app.stranger,
    });
    expect((await app.api('get', `/conversations/${foreign}`, app.stranger.apiKey)).status).toBe(200);
    const answers = [];
    for (const id of [newId(), deleted, foreign]) {
      const { status, body } = await app.api('get', `/conversations/${id}`);
      const { requestId: _, ...rest } = body;
      answers.push([status, rest]);
    }
    expect(answers[0]).toEqual([404, expect.objectContaining({ code: 'CONVERSATION_NOT_FOUND' })]);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});
