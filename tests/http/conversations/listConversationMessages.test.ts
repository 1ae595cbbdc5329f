import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { addTurn, makeConversation } from './conversations.ts';

let app: TestApp;
let agentId: string;
/** `Hello`, `Hi there.`, then five turns `Q1`, `A1`, … of which the last two were sent in one instant. */
let conversationId: string;

const inOrder = ['Hello', 'Hi there.', ...[1, 2, 3, 4, 5].flatMap((i) => [`Q${i}`, `A${i}`])];

beforeAll(async () => {
  app = await startTestApp();
  agentId = (await makeAgent(app)).publicId;
  conversationId = await makeConversation(app, { agentId });
  for (const i of [1, 2, 3, 4, 5]) {
    const askedAt = `2026-03-0${Math.min(i, 4) + 1}T09:00:00Z`;
    await addTurn(app, { conversationId, agentId }, { question: `Q${i}`, answer: `A${i}`, askedAt });
  }
});
afterAll(() => app.close());

async function contents(query: string): Promise<string[]> {
  const { status, body } = await app.api('get', `/conversations/${conversationId}/messages${query}`);
  expect(status).toBe(200);
  return body.items.map((item: { content: string }) => item.content);
}

describe('200', () => {
  test('replies have tokens and cost, questions do not', async () => {
    const { body } = await app.api('get', `/conversations/${conversationId}/messages?limit=2`);
    expect(body).toEqual({
      items: [
        {
          publicId: expect.any(String),
          conversationPublicId: conversationId,
          role: 'user',
          content: 'Hello',
          ui: null,
          audioUrl: null,
          model: null,
          tokenUsage: null,
          costUsd: null,
          costOps: 0,
          sentAt: '2026-03-01T12:00:00.000Z',
        },
        {
          publicId: expect.any(String),
          conversationPublicId: conversationId,
          role: 'assistant',
          content: 'Hi there.',
          ui: null,
          audioUrl: null,
          model: 'gpt-4.1',
          tokenUsage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 },
          costUsd: 0.0012345678,
          costOps: 1,
          sentAt: '2026-03-01T12:00:00.000Z',
        },
      ],
      page: 1,
      limit: 2,
      total: 12,
      totalPages: 6,
    });
  });

  test('a reply that cost nothing has 0, not null', async () => {
    const id = await makeConversation(app, { agentId });
    await app.workspace.db
      .updateTable('messages')
      .set({ cost_usd: 0, input_tokens: 0, output_tokens: 0 })
      .where('conversation_id', '=', id)
      .where('role', '=', 'assistant')
      .execute();
    const { body } = await app.api('get', `/conversations/${id}/messages?role=assistant`);
    expect(body.items[0]).toMatchObject({
      costUsd: 0,
      tokenUsage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    });
  });

  test('the oldest first; messages of the same instant in the order in which they were stored', async () => {
    expect(await contents('')).toEqual(inOrder);
    expect(await contents('?order=asc')).toEqual(inOrder);
  });

  test('order=desc is the exact reverse', async () => {
    expect(await contents('?order=desc')).toEqual(inOrder.toReversed());
  });

  test.each(['user', 'assistant'])('only of the role %s', async (role) => {
    const wanted = inOrder.filter((_, i) => (i % 2 === 0) === (role === 'user'));
    expect(await contents(`?role=${role}`)).toEqual(wanted);
    expect(await contents(`?role=${role}&order=desc&limit=2&page=2`)).toEqual(wanted.toReversed().slice(2, 4));
    const { body } = await app.api('get', `/conversations/${conversationId}/messages?role=${role}&limit=4`);
    expect([body.total, body.totalPages]).toEqual([6, 2]);
  });

  test.each(['asc', 'desc'])('pages in order %s list each message once', async (order) => {
    const pages = [];
    for (const page of [1, 2, 3, 4]) pages.push(...(await contents(`?order=${order}&limit=5&page=${page}`)));
    expect(pages).toEqual(order === 'asc' ? inOrder : inOrder.toReversed());
  });

  test('a clock that goes backwards does not change the order of a conversation', async () => {
    const id = await makeConversation(app, { agentId, startedAt: '2026-03-05T12:00:00Z' });
    await addTurn(
      app,
      { conversationId: id, agentId },
      { question: 'Late', answer: 'Later', askedAt: '2026-03-05T11:59:00Z' },
    );
    const { body } = await app.api('get', `/conversations/${id}/messages`);
    expect(body.items.map((item: { content: string }) => item.content)).toEqual([
      'Hello',
      'Hi there.',
      'Late',
      'Later',
    ]);
  });

  test('none of another conversation', async () => {
    const id = await makeConversation(app, { agentId });
    const { body } = await app.api('get', `/conversations/${id}/messages`);
    expect(body.total).toBe(2);
    expect(new Set(body.items.map((item: { conversationPublicId: string }) => item.conversationPublicId))).toEqual(
      new Set([id]),
    );
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
    const answers = [];
    for (const id of [newId(), deleted, foreign]) {
      const { status, body } = await app.api('get', `/conversations/${id}/messages`);
      const { requestId: _, ...rest } = body;
      answers.push([status, rest]);
    }
    expect(answers[0]).toEqual([404, expect.objectContaining({ code: 'CONVERSATION_NOT_FOUND' })]);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});
