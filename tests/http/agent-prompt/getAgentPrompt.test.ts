import { newId } from '../../../core/ids.ts';
import { makeAgent, makeVariable, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('a new agent has no prompt, no variables, and the dynamic prompt off', async () => {
    const agent = await makeAgent(app);
    const { status, body } = await app.api('get', `/agents/${agent.publicId}/prompt`);
    expect(status).toBe(200);
    expect(body).toEqual({ systemPrompt: null, dynamicPromptEnabled: false, variables: [] });
  });

  test('returns all variables in order, also those that the prompt does not refer to', async () => {
    const agent = await makeAgent(app, { systemPrompt: 'Call them {{called}}.', dynamicPromptEnabled: true });
    const orphan = await makeVariable(app, agent.publicId, { name: 'orphan', sortOrder: 2 });
    const called = await makeVariable(app, agent.publicId, { name: 'called', sortOrder: 1 });
    const { body } = await app.api('get', `/agents/${agent.publicId}/prompt`);
    expect(body).toEqual({
      systemPrompt: 'Call them {{called}}.',
      dynamicPromptEnabled: true,
      variables: [called, orphan],
    });
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await app.api('get', `/agents/${newId()}/prompt`);
    const { status, body } = await app.api('get', `/agents/${foreign.publicId}/prompt`);
    expect(status).toBe(404);
    expect(body.code).toBe('AGENT_NOT_FOUND');
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });

  test('a deleted agent has no prompt', async () => {
    const agent = await makeAgent(app);
    await app.api('delete', `/agents/${agent.publicId}`).expect(204);
    const { status, body } = await app.api('get', `/agents/${agent.publicId}/prompt`);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
  });
});
