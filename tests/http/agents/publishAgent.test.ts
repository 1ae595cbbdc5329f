import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { addModel, makeAgent, readAgent, setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { allNotFound, answersForMissing, versionsOf } from './agents.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const ready = { aiModelPublicId: BUILTIN_MODEL.publicId };

function publish(id: string, body?: object, key?: string) {
  const request = app.api('post', `/agents/${id}/publish`, key);
  return body === undefined ? request : request.send(body);
}

describe('200', () => {
  test('the draft becomes version 1, and a new draft starts from it', async () => {
    const agent = await makeAgent(app, { ...ready, systemPrompt: 'Be kind.' });
    clock.advance(2000);
    const { status, body } = await publish(agent.publicId, { notes: 'First release.' });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...agent,
      status: 'active',
      publishedVersionNumber: 1,
      draftVersionNumber: 2,
      hasUnpublishedChanges: false,
      updatedAt: clock.now().toISOString(),
    });
    expect(await readAgent(app, agent.publicId)).toEqual(body);
    expect(await versionsOf(app, agent.publicId)).toMatchObject([
      { version_number: 1, notes: 'First release.', created_at: clock.now() },
    ]);
  });

  test('the version has the whole editable state with its model, prompt and variables', async () => {
    const settings = {
      ...ready,
      systemPrompt: 'Hello {{city}}.',
      temperature: 0.3,
      thinkingEnabled: true,
      thinkingEffort: 'high',
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
      messageDelayType: 'HIGH',
      messageSplittingEnabled: true,
      followUpEnabled: true,
      followUpAfterHours: 1,
      followUpInactivityMinutes: 2,
      followUpIntervalMinutes: 3,
      followUpMaxAttempts: 4,
      followUpBusinessHoursStart: '09:00:00',
      followUpBusinessHoursEnd: '17:00:00',
      followUpPrompt: 'Still there?',
    } satisfies components['schemas']['AgentUpdate'];
    const { publicId } = await makeAgent(app, settings);
    const variableId = newId();
    await app.workspace.db
      .insertInto('agent_variables')
      .values({
        workspace_id: app.workspace.workspaceId,
        id: variableId,
        agent_id: publicId,
        name: 'city',
        label: 'City',
        type: 'text_short',
        default_value: JSON.stringify('Lyon'),
      })
      .execute();
    expect((await publish(publicId)).status).toBe(200);
    const [version] = await versionsOf(app, publicId);
    expect(version?.snapshot).toEqual({
      format: 2,
      ...settings,
      aiModelName: BUILTIN_MODEL.name,
      variables: [expect.objectContaining({ publicId: variableId, name: 'city', defaultValue: 'Lyon' })],
      httpTools: [],
      knowledgeSources: [],
      skills: [],
      externalMcps: [],
      nativeMcps: [],
      subAgents: [],
    });
  });

  test('a later change does not change the published version', async () => {
    const { publicId } = await makeAgent(app, { ...ready, systemPrompt: 'One.' });
    await publish(publicId);
    const before = await versionsOf(app, publicId);
    await app.api('patch', `/agents/${publicId}`).send({ systemPrompt: 'Two.' });
    expect(await versionsOf(app, publicId)).toEqual(before);
    const { body } = await publish(publicId);
    expect(body).toMatchObject({ publishedVersionNumber: 2, draftVersionNumber: 3, hasUnpublishedChanges: false });
    expect(
      (await versionsOf(app, publicId)).map(({ snapshot }) => (snapshot as { systemPrompt: string }).systemPrompt),
    ).toEqual(['One.', 'Two.']);
  });

  test('a draft without changes can be published too', async () => {
    const { publicId } = await makeAgent(app, ready);
    for (const number of [1, 2, 3]) expect((await publish(publicId, {})).body.publishedVersionNumber).toBe(number);
  });

  test('an agent without a system prompt, on a custom model of the workspace', async () => {
    const { publicId } = await makeAgent(app, { aiModelPublicId: await addModel(app.workspace) });
    expect((await publish(publicId)).body).toMatchObject({ status: 'active', systemPrompt: null });
  });

  test.each<[object | undefined, string | null]>([
    [undefined, null],
    [{}, null],
    [{ notes: null }, null],
    [{ notes: '' }, ''],
    [{ notes: '🦊'.repeat(500) }, '🦊'.repeat(500)],
  ])('notes %#', async (body, notes) => {
    const { publicId } = await makeAgent(app, ready);
    expect((await publish(publicId, body)).status).toBe(200);
    expect((await versionsOf(app, publicId)).map((version) => version.notes)).toEqual([notes]);
  });

  test('a body of null is no body, as generated clients send it', async () => {
    const { publicId } = await makeAgent(app, ready);
    const request = app.api('post', `/agents/${publicId}/publish`).set('Content-Type', 'application/json');
    expect((await request.send('null')).status).toBe(200);
    expect((await versionsOf(app, publicId)).map((version) => version.notes)).toEqual([null]);
  });

  test('an inactive agent becomes active', async () => {
    const { publicId } = await makeAgent(app, ready);
    await publish(publicId);
    await setStatus(app.workspace, publicId, 'inactive');
    expect((await publish(publicId)).body).toMatchObject({ status: 'active', publishedVersionNumber: 2 });
  });

  test('concurrent requests each publish a version of their own', async () => {
    const { publicId } = await makeAgent(app, ready);
    const answers = await Promise.all(Array.from({ length: 6 }, () => publish(publicId)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await versionsOf(app, publicId)).map((version) => version.version_number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await readAgent(app, publicId)).toMatchObject({
      publishedVersionNumber: 6,
      draftVersionNumber: 7,
      hasUnpublishedChanges: false,
    });
  });

  test('a concurrent change is either in the version or an unpublished change', async () => {
    const { publicId } = await makeAgent(app, { ...ready, systemPrompt: 'Before.' });
    await Promise.all([publish(publicId), app.api('patch', `/agents/${publicId}`).send({ systemPrompt: 'After.' })]);
    const [version] = await versionsOf(app, publicId);
    const snapshot = version?.snapshot as { systemPrompt: string } | undefined;
    const included = snapshot?.systemPrompt === 'After.';
    expect(await readAgent(app, publicId)).toMatchObject({ systemPrompt: 'After.', hasUnpublishedChanges: !included });
  });
});

describe('400', () => {
  test.each([{ notes: 'a'.repeat(501) }, { notes: 1 }, { note: 'x' }, []])('%j: nothing is published', async (body) => {
    const agent = await makeAgent(app, ready);
    const answer = await publish(agent.publicId, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
    expect(await versionsOf(app, agent.publicId)).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response, and the latter stays', async () => {
    const { answers, foreign } = await answersForMissing(app, (id) => publish(id));
    expect(answers).toEqual(allNotFound);
    expect(await readAgent(app, foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft, whether or not it has a model', async () => {
    for (const fields of [ready, {}]) {
      const { publicId } = await makeAgent(app, fields);
      await setStatus(app.workspace, publicId, 'archived');
      const { status, body } = await publish(publicId);
      expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
      expect(await readAgent(app, publicId)).toMatchObject({ status: 'archived', publishedVersionNumber: null });
      expect(await versionsOf(app, publicId)).toEqual([]);
    }
  });
});

describe('422 AI_MODEL_REQUIRED', () => {
  test('an agent without a model, and one whose model was removed, cannot be published', async () => {
    const agent = await makeAgent(app, { systemPrompt: 'Be kind.' });
    const { status, body } = await publish(agent.publicId);
    expect([status, body.code]).toEqual([422, 'AI_MODEL_REQUIRED']);
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
    const once = await makeAgent(app, ready);
    await publish(once.publicId);
    await app.api('patch', `/agents/${once.publicId}`).send({ aiModelPublicId: null });
    expect((await publish(once.publicId)).status).toBe(422);
    expect(await versionsOf(app, once.publicId)).toHaveLength(1);
  });
});
