import { newId } from '../../../core/ids.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { addModel, makeAgent, makeReadyAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('everything is null and thinking off until a model is chosen', async () => {
    const agent = await makeAgent(app);
    const { status, body } = await app.api('get', `/agents/${agent.publicId}/model`);
    expect(status).toBe(200);
    expect(body).toEqual({
      aiModelPublicId: null,
      aiModelName: null,
      provider: null,
      modelId: null,
      temperature: null,
      thinkingEnabled: false,
      thinkingEffort: null,
      capabilities: null,
    });
  });

  test('shows a model of the catalogue with the settings and what it can do', async () => {
    const agent = await makeReadyAgent(app, { temperature: 0.3, thinkingEnabled: true, thinkingEffort: 'low' });
    const { body } = await app.api('get', `/agents/${agent.publicId}/model`);
    expect(body).toEqual({
      aiModelPublicId: BUILTIN_MODEL.publicId,
      aiModelName: BUILTIN_MODEL.name,
      provider: 'builtin',
      modelId: 'guildhall-builtin',
      temperature: 0.3,
      thinkingEnabled: true,
      thinkingEffort: 'low',
      capabilities: {
        contextWindow: 32_000,
        supportsTemperature: true,
        minTemperature: 0,
        maxTemperature: 2,
        supportsThinking: true,
        supportsImage: true,
        supportsDocument: true,
      },
    });
  });

  test("shows a model of the workspace's own; one that takes no temperature has no range", async () => {
    const aiModelPublicId = await addModel(app.workspace, {
      name: 'Plain',
      model_id: 'plain-1',
      supports_temperature: false,
      supports_thinking: false,
      supports_document: true,
    });
    const agent = await makeAgent(app, { aiModelPublicId });
    const { body } = await app.api('get', `/agents/${agent.publicId}/model`);
    expect(body).toMatchObject({ aiModelPublicId, aiModelName: 'Plain', provider: 'builtin', modelId: 'plain-1' });
    expect(body.capabilities).toEqual({
      contextWindow: 8000,
      supportsTemperature: false,
      minTemperature: null,
      maxTemperature: null,
      supportsThinking: false,
      supportsImage: false,
      supportsDocument: true,
    });
  });

  test('a removed model has no capabilities, and stays visible as the choice', async () => {
    const aiModelPublicId = await addModel(app.workspace);
    const agent = await makeAgent(app, { aiModelPublicId });
    await app.database.database.system
      .updateTable('ai_models')
      .set({ deleted_at: app.clock.now() })
      .where('id', '=', aiModelPublicId)
      .execute();
    const { status, body } = await app.api('get', `/agents/${agent.publicId}/model`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ aiModelPublicId, provider: null, modelId: null, capabilities: null });
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist", async () => {
    const foreign = await makeReadyAgent(app, {}, app.stranger.apiKey);
    const missing = await app.api('get', `/agents/${newId()}/model`);
    const { status, body } = await app.api('get', `/agents/${foreign.publicId}/model`);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});
