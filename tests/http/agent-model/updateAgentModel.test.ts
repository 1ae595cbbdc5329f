import { newId } from '../../../core/ids.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import {
  addModel,
  makeAgent,
  makeReadyAgent,
  publish,
  readAgent,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const change = (agentId: string, body: object) => app.api('patch', `/agents/${agentId}/model`).send(body);

/** Asserts that the request is refused with this status and code, and that the agent is unchanged. */
async function expectRefused(agentId: string, body: object, status: number, code: string): Promise<void> {
  const before = await readAgent(app, agentId);
  const answer = await change(agentId, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await readAgent(app, agentId)).toEqual(before);
}

describe('200', () => {
  test('changes the fields of the agent itself', async () => {
    const agent = await makeAgent(app, { systemPrompt: 'Be kind.' });
    const settings = { temperature: 1.5, thinkingEnabled: true, thinkingEffort: 'high' };
    const { status, body } = await change(agent.publicId, { aiModelPublicId: BUILTIN_MODEL.publicId, ...settings });
    expect(status).toBe(200);
    expect(body).toMatchObject({ aiModelPublicId: BUILTIN_MODEL.publicId, ...settings });
    expect(body).toEqual((await app.api('get', `/agents/${agent.publicId}/model`)).body);
    expect(await readAgent(app, agent.publicId)).toMatchObject({
      aiModelPublicId: BUILTIN_MODEL.publicId,
      aiModelName: BUILTIN_MODEL.name,
      systemPrompt: 'Be kind.',
      ...settings,
    });
  });

  test('an absent field stays as it is', async () => {
    const agent = await makeReadyAgent(app, { temperature: 0.5, thinkingEnabled: true, thinkingEffort: 'low' });
    const { body } = await change(agent.publicId, { temperature: 0.7 });
    expect(body).toMatchObject({
      aiModelPublicId: BUILTIN_MODEL.publicId,
      temperature: 0.7,
      thinkingEnabled: true,
      thinkingEffort: 'low',
    });
  });

  test('null clears a field and switches thinking off', async () => {
    const agent = await makeReadyAgent(app, { temperature: 0.5, thinkingEnabled: true, thinkingEffort: 'low' });
    const { body } = await change(agent.publicId, {
      aiModelPublicId: null,
      temperature: null,
      thinkingEnabled: null,
      thinkingEffort: null,
    });
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

  test('accepts a custom model of the workspace, and its id in upper case', async () => {
    const aiModelPublicId = await addModel(app.workspace);
    const agent = await makeAgent(app);
    const { status, body } = await change(agent.publicId, { aiModelPublicId: aiModelPublicId.toUpperCase() });
    expect([status, body.aiModelPublicId]).toEqual([200, aiModelPublicId]);
    const again = await change(agent.publicId, { aiModelPublicId: BUILTIN_MODEL.publicId.toUpperCase() });
    expect([again.status, again.body.aiModelName]).toEqual([200, BUILTIN_MODEL.name]);
  });

  test('the temperature range includes both ends', async () => {
    const aiModelPublicId = await addModel(app.workspace, { min_temperature: 0.2, max_temperature: 1.2 });
    const agent = await makeAgent(app, { aiModelPublicId });
    expect((await change(agent.publicId, { temperature: 0.2 })).body.temperature).toBe(0.2);
    expect((await change(agent.publicId, { temperature: 1.2 })).body.temperature).toBe(1.2);
  });

  test('a change is unpublished until the agent is published again', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    await change(agent.publicId, { temperature: 0.1 }).expect(200);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    const published = await app.api('get', `/agents/${agent.publicId}/versions/published`);
    expect(published.body.temperature).toBeNull();
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['a temperature over 2', { temperature: 2.1 }],
    ['a negative temperature', { temperature: -0.1 }],
    ['an unknown effort', { thinkingEffort: 'extreme' }],
    ['a model id that is no UUID', { aiModelPublicId: 'gpt-4.1' }],
    ['a field of the agent that is no model field', { temperature: 1, systemPrompt: 'New.' }],
  ])('refuses %s and changes nothing', async (_what, body) => {
    const agent = await makeReadyAgent(app);
    await expectRefused(agent.publicId, body, 400, 'VALIDATION_ERROR');
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and keeps its settings", async () => {
    const foreign = await makeReadyAgent(app, {}, app.stranger.apiKey);
    const missing = await change(newId(), { temperature: 1 });
    const { status, body } = await change(foreign.publicId, { temperature: 1 });
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    const kept = await app.api('get', `/agents/${foreign.publicId}/model`, app.stranger.apiKey);
    expect(kept.body.temperature).toBeNull();
  });
});

describe('404 AI_MODEL_NOT_FOUND', () => {
  test('an unknown model is refused, and no other field of the request is stored', async () => {
    const agent = await makeReadyAgent(app);
    const body = { aiModelPublicId: newId(), temperature: 1 };
    await expectRefused(agent.publicId, body, 404, 'AI_MODEL_NOT_FOUND');
  });

  test("another workspace's custom model is treated as an unknown one", async () => {
    const agent = await makeReadyAgent(app);
    const foreign = await addModel(app.stranger);
    const missing = await change(agent.publicId, { aiModelPublicId: newId() });
    const { status, body } = await change(agent.publicId, { aiModelPublicId: foreign });
    expect(status).toBe(404);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });

  test('a removed model of the workspace cannot be chosen', async () => {
    const agent = await makeAgent(app);
    const removed = await addModel(app.workspace, { deleted_at: app.clock.now() });
    await expectRefused(agent.publicId, { aiModelPublicId: removed }, 404, 'AI_MODEL_NOT_FOUND');
  });
});

describe('422 TEMPERATURE_NOT_SUPPORTED', () => {
  test.each([
    ['below', 0.1],
    ['above', 1.3],
  ])('a temperature %s the range of the chosen model is refused', async (_where, temperature) => {
    const aiModelPublicId = await addModel(app.workspace, { min_temperature: 0.2, max_temperature: 1.2 });
    const agent = await makeAgent(app, { aiModelPublicId });
    await expectRefused(agent.publicId, { temperature }, 422, 'TEMPERATURE_NOT_SUPPORTED');
  });

  test('a model without temperature refuses any value', async () => {
    const aiModelPublicId = await addModel(app.workspace, { supports_temperature: false });
    const agent = await makeAgent(app, { aiModelPublicId });
    await expectRefused(agent.publicId, { temperature: 0 }, 422, 'TEMPERATURE_NOT_SUPPORTED');
  });

  test('the temperature is checked against the model of the same request, not the previous one', async () => {
    const narrow = await addModel(app.workspace, { max_temperature: 1 });
    const agent = await makeReadyAgent(app);
    const tooHot = { aiModelPublicId: narrow, temperature: 1.5 };
    await expectRefused(agent.publicId, tooHot, 422, 'TEMPERATURE_NOT_SUPPORTED');
    const other = await makeAgent(app, { aiModelPublicId: narrow });
    const fits = await change(other.publicId, { aiModelPublicId: BUILTIN_MODEL.publicId, temperature: 1.5 });
    expect(fits.status).toBe(200);
  });

  test('a new model is refused when it cannot take the temperature that is set, unless the request clears it', async () => {
    const aiModelPublicId = await addModel(app.workspace, { supports_temperature: false });
    const agent = await makeReadyAgent(app, { temperature: 0.5 });
    await expectRefused(agent.publicId, { aiModelPublicId }, 422, 'TEMPERATURE_NOT_SUPPORTED');
    expect((await change(agent.publicId, { aiModelPublicId, temperature: null })).status).toBe(200);
  });

  test('updateAgent refuses the same', async () => {
    const aiModelPublicId = await addModel(app.workspace, { supports_temperature: false });
    const agent = await makeAgent(app, { aiModelPublicId });
    const { status, body } = await app.api('patch', `/agents/${agent.publicId}`).send({ temperature: 0 });
    const view = await change(agent.publicId, { temperature: 0 });
    expect(status).toBe(422);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(view.body));
  });
});

describe('422 THINKING_NOT_SUPPORTED', () => {
  test('thinking cannot be switched on with a model that cannot think', async () => {
    const aiModelPublicId = await addModel(app.workspace, { supports_thinking: false });
    const agent = await makeAgent(app, { aiModelPublicId });
    await expectRefused(agent.publicId, { thinkingEnabled: true }, 422, 'THINKING_NOT_SUPPORTED');
  });

  test('such a model cannot be chosen while thinking is on, unless the request switches it off', async () => {
    const aiModelPublicId = await addModel(app.workspace, { supports_thinking: false });
    const agent = await makeReadyAgent(app, { thinkingEnabled: true });
    await expectRefused(agent.publicId, { aiModelPublicId }, 422, 'THINKING_NOT_SUPPORTED');
    expect((await change(agent.publicId, { aiModelPublicId, thinkingEnabled: false })).status).toBe(200);
  });
});
