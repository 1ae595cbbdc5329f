import { newId } from '../../../core/ids.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { addModel, makeReadyAgent, makeVariable, publish, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (agentId: string, versionNumber: number | string, key?: string) =>
  app.api('get', `/agents/${agentId}/versions/${versionNumber}`, key);

describe('200', () => {
  test('shows every setting, the variables by name, and the empty sets of links', async () => {
    const settings = {
      systemPrompt: 'Hi {{city}}.',
      temperature: 0.4,
      thinkingEnabled: true,
      thinkingEffort: 'medium',
      webSearchEnabled: true,
      sandboxEnabled: true,
      genuiEnabled: true,
      dynamicPromptEnabled: true,
      audioListeningEnabled: true,
      audioResponseEnabled: true,
      ttsVoice: 'alloy',
      longTermMemoryEnabled: true,
      memoryCustomInstructions: 'Names.',
      messageDelayEnabled: true,
      messageDelayType: 'LOW',
      messageSplittingEnabled: true,
      followUpEnabled: true,
      followUpAfterHours: 2,
      followUpInactivityMinutes: 30,
      followUpIntervalMinutes: 60,
      followUpMaxAttempts: 3,
      followUpBusinessHoursStart: '09:00:00',
      followUpBusinessHoursEnd: '18:00:00',
      followUpPrompt: 'Still there?',
    } as const;
    const agent = await makeReadyAgent(app, settings);
    const city = await makeVariable(app, agent.publicId, { name: 'city', defaultValue: 'Rome' });
    const tone = await makeVariable(app, agent.publicId, {
      name: 'tone',
      type: 'multi_choice',
      options: [{ label: 'Kind', injectedText: 'Be kind.' }],
    });
    await publish(app, agent.publicId, 'First.');
    const { status, body } = await get(agent.publicId, 1);
    expect(status).toBe(200);
    expect(body).toEqual({
      versionNumber: 1,
      notes: 'First.',
      createdAt: app.clock.now().toISOString(),
      aiModelPublicId: BUILTIN_MODEL.publicId,
      aiModelName: BUILTIN_MODEL.name,
      ...settings,
      variablesSnapshot: { city, tone },
      httpTools: [],
      knowledgeSources: [],
      skills: [],
      subAgents: [],
    });
  });

  test('a version does not change with the draft, the variables or the model', async () => {
    const model = await addModel(app.workspace, { name: 'Before' });
    const agent = await makeReadyAgent(app, { systemPrompt: 'Old {{city}} {{town}}.', aiModelPublicId: model });
    const city = await makeVariable(app, agent.publicId, { name: 'city', label: 'Old' });
    const town = await makeVariable(app, agent.publicId, { name: 'town' });
    await publish(app, agent.publicId);
    const frozen = (await get(agent.publicId, 1)).body;
    expect(frozen).toMatchObject({ aiModelName: 'Before', variablesSnapshot: { city: { label: 'Old' }, town } });

    const change = { systemPrompt: 'New.', temperature: 1, webSearchEnabled: true };
    await app.api('patch', `/agents/${agent.publicId}`).send(change).expect(200);
    const variables = `/agents/${agent.publicId}/prompt/variables`;
    await app.api('patch', `${variables}/${city.publicId}`).send({ name: 'place', label: 'New' }).expect(200);
    await app.api('delete', `${variables}/${town.publicId}?mode=purge&confirmation=DELETE`).expect(204);
    const models = app.database.database.system.updateTable('ai_models').where('id', '=', model);
    await models.set({ name: 'After' }).execute();
    expect((await get(agent.publicId, 1)).body).toEqual(frozen);

    await publish(app, agent.publicId);
    await models.set({ deleted_at: app.clock.now() }).execute();
    expect((await get(agent.publicId, 1)).body).toEqual(frozen);
    expect((await get(agent.publicId, 2)).body).toMatchObject({
      ...change,
      aiModelName: 'After',
      variablesSnapshot: { place: { publicId: city.publicId, label: 'New' } },
    });
  });

  test('name, description, avatar and categories do not belong to versions', async () => {
    const agent = await makeReadyAgent(app, { description: 'For support.', categories: ['support'] });
    await publish(app, agent.publicId);
    const { body } = await get(agent.publicId, 1);
    for (const field of ['name', 'description', 'avatarUrl', 'categories']) expect(body).not.toHaveProperty(field);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['0', '-1', '1.5', 'latest', '2147483648'])('refuses %s as a version number', async (number) => {
    const agent = await makeReadyAgent(app);
    const { status, body } = await get(agent.publicId, number);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.details[0].path).toBe('/path/versionNumber');
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist", async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    const missing = await get(newId(), 1, app.stranger.apiKey);
    const { status, body } = await get(agent.publicId, 1, app.stranger.apiKey);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });

  test('the versions of a deleted agent do not exist', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    await app.api('delete', `/agents/${agent.publicId}`).expect(204);
    const { status, body } = await get(agent.publicId, 1);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
  });
});

describe('404 VERSION_NOT_FOUND', () => {
  test('the draft has a number, but is not a version yet', async () => {
    const agent = await makeReadyAgent(app);
    const { draftVersionNumber } = await publish(app, agent.publicId);
    expect(draftVersionNumber).toBe(2);
    const { status, body } = await get(agent.publicId, 2);
    expect([status, body.code]).toEqual([404, 'VERSION_NOT_FOUND']);
  });
});
