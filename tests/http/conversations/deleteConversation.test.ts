import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeConversation } from './conversations.ts';

let app: TestApp;
let agentId: string;

beforeAll(async () => {
  app = await startTestApp();
  agentId = (await makeAgent(app)).publicId;
});
afterAll(() => app.close());

describe('204', () => {
  test('deletes the conversation and its messages, and no others', async () => {
    const id = await makeConversation(app, { agentId });
    const other = await makeConversation(app, { agentId });
    const answer = await app.api('delete', `/conversations/${id}`);
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([204, '', undefined]);
    expect((await app.api('get', `/conversations/${id}`)).status).toBe(404);
    expect((await app.api('get', `/conversations/${id}/messages`)).status).toBe(404);
    const { body } = await app.api('get', '/conversations');
    expect(body.items.map((item: { publicId: string }) => item.publicId)).toEqual([other]);
    expect((await app.api('get', `/conversations/${other}/messages`)).body.total).toBe(2);
  });

  test.each([{ isPaused: true }, { isEnded: true }, { isTest: true }])('also deletes one with %j', async (state) => {
    const id = await makeConversation(app, { agentId, ...state });
    expect((await app.api('delete', `/conversations/${id}`)).status).toBe(204);
  });

  test('also deletes one whose agent is deleted', async () => {
    const gone = (await makeAgent(app)).publicId;
    const id = await makeConversation(app, { agentId: gone });
    await app.api('delete', `/agents/${gone}`);
    expect((await app.api('delete', `/conversations/${id}`)).status).toBe(204);
  });

  test('of concurrent requests exactly one deletes it', async () => {
    const id = await makeConversation(app, { agentId });
    const answers = await Promise.all(Array.from({ length: 6 }, () => app.api('delete', `/conversations/${id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404]);
  });
});

describe('404 CONVERSATION_NOT_FOUND', () => {
  test('an unknown, a deleted and a foreign conversation get the same response; the foreign one stays', async () => {
    const deleted = await makeConversation(app, { agentId });
    await app.api('delete', `/conversations/${deleted}`);
    const foreign = await makeConversation(app, {
      agentId: (await makeAgent(app, {}, app.stranger.apiKey)).publicId,
      workspace: app.stranger,
    });
    const answers = [];
    for (const id of [newId(), deleted, foreign]) {
      const { status, body } = await app.api('delete', `/conversations/${id}`);
      const { requestId: _, ...rest } = body;
      answers.push([status, rest]);
    }
    expect(answers[0]).toEqual([404, expect.objectContaining({ code: 'CONVERSATION_NOT_FOUND' })]);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect((await app.api('get', `/conversations/${foreign}`, app.stranger.apiKey)).status).toBe(200);
  });
});
