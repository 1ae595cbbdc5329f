// Longer than most: one operation with 29 fields and seven codes of its own.
import { newId } from '../../../core/ids.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { addModel, makeAgent, readAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { allNotFound, answersForMissing, versionsOf } from './agents.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function update(id: string, body: object, key?: string) {
  return app.api('patch', `/agents/${id}`, key).send(body);
}

/** Asserts that the change is refused with the code, and that the agent is unchanged. */
async function expectRefused(id: string, body: object, status: number, code: string): Promise<void> {
  const before = await readAgent(app, id);
  const answer = await update(id, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await readAgent(app, id)).toEqual(before);
}

const toggles = [
  'thinkingEnabled',
  'webSearchEnabled',
  'sandboxEnabled',
  'genuiEnabled',
  'dynamicPromptEnabled',
  'audioListeningEnabled',
  'longTermMemoryEnabled',
  'messageDelayEnabled',
  'messageSplittingEnabled',
];

/** Every other field of a version, with two valid values; the first is at a bound if the field has one. */
const values: [string, unknown, unknown][] = [
  ['systemPrompt', '', '🦊'.repeat(200_000)],
  ['temperature', 0, 2],
  ['thinkingEffort', 'low', 'high'],
  ['ttsVoice', 'alloy', 'a'.repeat(100)],
  ['memoryCustomInstructions', 'Remember names.', 'é'.repeat(10_000)],
  ['messageDelayType', 'RANDOM', 'LOW'],
  ['followUpAfterHours', 0, 720],
  ['followUpInactivityMinutes', 1, 1440],
  ['followUpIntervalMinutes', 1, 10_080],
  ['followUpMaxAttempts', 1, 10],
  ['followUpPrompt', 'Still there?', 'a'.repeat(10_000)],
];

/** A field, a value, what clears it, and how it reads then. */
const metadata: [string, unknown, unknown, unknown][] = [
  ['description', 'What it does.', null, null],
  ['avatarUrl', 'https://example.com/a.png', null, null],
  ['categories', ['b', 'a'], [], []],
  ['categories', ['b', 'a'], null, []],
];

describe('200', () => {
  test.each(values)('%s is set, kept when absent, and cleared with null', async (field, first, second) => {
    const { publicId } = await makeAgent(app);
    for (const value of [first, second]) {
      const { status, body } = await update(publicId, { [field]: value });
      expect([status, body[field]]).toEqual([200, value]);
    }
    const kept = await update(publicId, { description: 'Something else.' });
    expect(kept.body[field]).toEqual(second);
    expect((await update(publicId, { [field]: null })).body[field]).toBeNull();
    expect(await readAgent(app, publicId)).toMatchObject({ [field]: null });
  });

  test.each(toggles)('%s is switched on, kept when absent, and off with null and with false', async (field) => {
    const { publicId } = await makeAgent(app);
    expect((await update(publicId, { [field]: true })).body[field]).toBe(true);
    expect((await update(publicId, {})).body[field]).toBe(true);
    expect((await update(publicId, { [field]: null })).body[field]).toBe(false);
    await update(publicId, { [field]: true });
    expect((await update(publicId, { [field]: false })).body[field]).toBe(false);
    expect(await readAgent(app, publicId)).toMatchObject({ [field]: false });
  });

  test.each(metadata)(
    '%s is set to %p and cleared with %p, and does not belong to versions',
    async (field, value, none, empty) => {
      const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
      await app.api('post', `/agents/${publicId}/publish`);
      expect((await update(publicId, { [field]: value })).body).toMatchObject({
        [field]: value,
        hasUnpublishedChanges: false,
      });
      expect((await update(publicId, {})).body[field]).toEqual(value);
      expect((await update(publicId, { [field]: none })).body).toMatchObject({
        [field]: empty,
        hasUnpublishedChanges: false,
      });
    },
  );

  test('business hours are set and cleared as a pair', async () => {
    const { publicId } = await makeAgent(app);
    const hours = { followUpBusinessHoursStart: '00:00:00', followUpBusinessHoursEnd: '23:59:59' };
    expect((await update(publicId, hours)).body).toMatchObject(hours);
    const none = { followUpBusinessHoursStart: null, followUpBusinessHoursEnd: null };
    expect((await update(publicId, none)).body).toMatchObject(none);
  });

  test('a time of day may come without seconds', async () => {
    const { publicId } = await makeAgent(app);
    const hours = { followUpBusinessHoursStart: '09:00', followUpBusinessHoursEnd: '17:30:15' };
    expect((await update(publicId, hours)).body).toMatchObject({ ...hours, followUpBusinessHoursStart: '09:00:00' });
    expect((await update(publicId, { followUpBusinessHoursEnd: '09:00' })).status).toBe(422);
    expect((await update(publicId, { followUpBusinessHoursEnd: '09:01' })).body).toMatchObject({
      followUpBusinessHoursEnd: '09:01:00',
    });
    const feature = await app
      .api('patch', `/agents/${publicId}/features/follow-up`)
      .send({ config: { businessHoursStart: '08:15' } });
    expect([feature.status, feature.body.config.businessHoursStart]).toEqual([200, '08:15:00']);
  });

  test('equal categories are stored once', async () => {
    const { publicId } = await makeAgent(app);
    expect((await update(publicId, { categories: ['b', 'a', 'b'] })).body.categories).toEqual(['b', 'a']);
  });

  test('the name can be changed, also to itself, and the old name becomes free', async () => {
    const { publicId, name } = await makeAgent(app);
    expect((await update(publicId, { name })).body.name).toBe(name);
    expect((await update(publicId, { name: 'Renamed' })).body.name).toBe('Renamed');
    expect((await app.api('post', '/agents').send({ name })).status).toBe(201);
  });

  test('the model is set with its name, and cleared', async () => {
    const model = await addModel(app.workspace, { name: 'House model' });
    const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
    expect((await update(publicId, { aiModelPublicId: model })).body).toMatchObject({
      aiModelPublicId: model,
      aiModelName: 'House model',
    });
    expect((await update(publicId, { aiModelPublicId: null })).body).toMatchObject({
      aiModelPublicId: null,
      aiModelName: null,
    });
  });

  test('all fields can be changed in one request', async () => {
    const { publicId, createdAt } = await makeAgent(app);
    const all = {
      ...Object.fromEntries([...values, ...metadata].map(([field, value]) => [field, value])),
      ...Object.fromEntries(toggles.map((field) => [field, true])),
      aiModelPublicId: BUILTIN_MODEL.publicId,
      audioResponseEnabled: true,
      followUpEnabled: true,
      followUpBusinessHoursStart: '09:00:00',
      followUpBusinessHoursEnd: '18:30:00',
    };
    clock.advance(1500);
    const { status, body } = await update(publicId, all);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...all,
      createdAt,
      updatedAt: clock.now().toISOString(),
      status: 'draft',
      draftVersionNumber: 1,
    });
    expect(await readAgent(app, publicId)).toEqual(body);
  });

  test('a change reaches the draft only, and is unpublished until it is reverted', async () => {
    const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId, systemPrompt: 'One.' });
    await app.api('post', `/agents/${publicId}/publish`);
    const published = await versionsOf(app, publicId);
    const { body } = await update(publicId, { systemPrompt: 'Two.' });
    expect(body).toMatchObject({
      hasUnpublishedChanges: true,
      status: 'active',
      publishedVersionNumber: 1,
      draftVersionNumber: 2,
    });
    expect(await versionsOf(app, publicId)).toEqual(published);
    expect((await update(publicId, { systemPrompt: 'One.' })).body.hasUnpublishedChanges).toBe(false);
  });

  test.each([
    ...values.map(([field, value]): [string, unknown] => [field, value]),
    ...toggles.map((field): [string, unknown] => [field, true]),
  ])('a change of %s is an unpublished change', async (field, value) => {
    const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
    await app.api('post', `/agents/${publicId}/publish`);
    expect((await update(publicId, { [field]: value })).body.hasUnpublishedChanges).toBe(true);
    expect((await update(publicId, { [field]: null })).body.hasUnpublishedChanges).toBe(false);
  });

  test('concurrent changes of different fields are all kept', async () => {
    const { publicId } = await makeAgent(app);
    const answers = await Promise.all(toggles.map((field) => update(publicId, { [field]: true })));
    expect(answers.map(({ status }) => status)).toEqual(toggles.map(() => 200));
    expect(await readAgent(app, publicId)).toMatchObject(Object.fromEntries(toggles.map((field) => [field, true])));
  });
});

describe('400', () => {
  test.each([
    ['a name of null', { name: null }],
    ['a blank name', { name: ' ' }],
    ['a long name', { name: 'a'.repeat(151) }],
    ['a script for a picture', { avatarUrl: 'javascript:alert(1)' }],
    ['a long prompt', { systemPrompt: 'a'.repeat(200_001) }],
    ['a temperature over 2', { temperature: 2.1 }],
    ['a temperature under 0', { temperature: -0.1 }],
    ['an effort that does not exist', { thinkingEffort: 'HIGH' }],
    ['a delay that does not exist', { messageDelayType: 'low' }],
    ['half a minute', { followUpIntervalMinutes: 1.5 }],
    ['no minute', { followUpInactivityMinutes: 0 }],
    ['too many hours', { followUpAfterHours: 721 }],
    ['eleven attempts', { followUpMaxAttempts: 11 }],
    ['an hour that does not exist', { followUpBusinessHoursStart: '24:00:00', followUpBusinessHoursEnd: '24:00:01' }],
    ['a time without minutes', { followUpBusinessHoursStart: '09', followUpBusinessHoursEnd: '10' }],
    ['a time of three digits', { followUpBusinessHoursStart: '09:0', followUpBusinessHoursEnd: '10:00' }],
    ['a status', { status: 'active' }],
    ['a version number', { draftVersionNumber: 7 }],
    ['the name of a model', { aiModelName: 'GPT' }],
  ])('%s: nothing is changed', async (_what, body) => {
    const { publicId } = await makeAgent(app);
    await expectRefused(publicId, { description: 'New.', ...body }, 400, 'VALIDATION_ERROR');
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response, and the latter stays', async () => {
    const { answers, foreign } = await answersForMissing(app, (id) => update(id, { name: 'Mine now' }));
    expect(answers).toEqual(allNotFound);
    expect(await readAgent(app, foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });
});

describe('404 AI_MODEL_NOT_FOUND', () => {
  test('an unknown model, a deleted one and one of another workspace get the same response', async () => {
    const { publicId } = await makeAgent(app);
    const deleted = await addModel(app.workspace);
    await app.workspace.db.updateTable('ai_models').set({ deleted_at: new Date() }).where('id', '=', deleted).execute();
    const foreign = await addModel(app.stranger);
    for (const aiModelPublicId of [newId(), deleted, foreign])
      await expectRefused(publicId, { description: 'New.', aiModelPublicId }, 404, 'AI_MODEL_NOT_FOUND');
  });
});

describe('409 AGENT_NAME_TAKEN', () => {
  test('the name of another agent: nothing is changed', async () => {
    const taken = await makeAgent(app);
    const { publicId } = await makeAgent(app);
    await expectRefused(publicId, { name: taken.name, systemPrompt: 'New.' }, 409, 'AGENT_NAME_TAKEN');
  });

  test('of concurrent requests exactly one gets the name', async () => {
    const agents = await Promise.all([1, 2, 3, 4].map(() => makeAgent(app)));
    const answers = await Promise.all(agents.map(({ publicId }) => update(publicId, { name: 'Wanted' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });
});

describe('422 TEMPERATURE_NOT_SUPPORTED', () => {
  test('a model without temperature and a temperature exclude each other, whichever is set first', async () => {
    const model = await addModel(app.workspace, { supports_temperature: false });
    const { publicId } = await makeAgent(app);
    await expectRefused(publicId, { aiModelPublicId: model, temperature: 0 }, 422, 'TEMPERATURE_NOT_SUPPORTED');
    await update(publicId, { temperature: 1 });
    await expectRefused(publicId, { aiModelPublicId: model }, 422, 'TEMPERATURE_NOT_SUPPORTED');
    expect((await update(publicId, { aiModelPublicId: model, temperature: null })).status).toBe(200);
    await expectRefused(publicId, { temperature: 1 }, 422, 'TEMPERATURE_NOT_SUPPORTED');
  });

  test('a model accepts a temperature within its range, including both ends', async () => {
    const { publicId } = await makeAgent(app, {
      aiModelPublicId: await addModel(app.workspace, { min_temperature: 0.5, max_temperature: 1 }),
    });
    for (const temperature of [0.5, 1, 0.75])
      expect((await update(publicId, { temperature })).body.temperature).toBe(temperature);
    for (const temperature of [0.49, 1.01])
      await expectRefused(publicId, { temperature }, 422, 'TEMPERATURE_NOT_SUPPORTED');
  });
});

describe('422 THINKING_NOT_SUPPORTED', () => {
  test('a model without thinking and thinking exclude each other, whichever is set first', async () => {
    const model = await addModel(app.workspace, { supports_thinking: false });
    const { publicId } = await makeAgent(app);
    await expectRefused(publicId, { aiModelPublicId: model, thinkingEnabled: true }, 422, 'THINKING_NOT_SUPPORTED');
    await update(publicId, { thinkingEnabled: true });
    await expectRefused(publicId, { aiModelPublicId: model }, 422, 'THINKING_NOT_SUPPORTED');
    expect((await update(publicId, { aiModelPublicId: model, thinkingEnabled: null })).status).toBe(200);
    await expectRefused(publicId, { thinkingEnabled: true }, 422, 'THINKING_NOT_SUPPORTED');
    expect((await update(publicId, { thinkingEffort: 'low' })).status).toBe(200);
  });

  test('other fields can be changed while the agent’s model no longer supports thinking', async () => {
    const model = await addModel(app.workspace);
    const { publicId } = await makeAgent(app, { aiModelPublicId: model, thinkingEnabled: true, temperature: 1 });
    await app.workspace.db.updateTable('ai_models').set({ supports_thinking: false }).where('id', '=', model).execute();
    expect((await update(publicId, { systemPrompt: 'New.' })).status).toBe(200);
    expect((await update(publicId, { thinkingEnabled: false })).status).toBe(200);
  });
});

describe('422 FEATURE_VALIDATION_ERROR', () => {
  const hours = { followUpBusinessHoursStart: '09:00:00', followUpBusinessHoursEnd: '17:00:00' };
  const followUp = { followUpEnabled: true, followUpMaxAttempts: 3, followUpIntervalMinutes: 60 };

  test.each<[string, object, object]>([
    ['follow-ups without a number', {}, { followUpEnabled: true, followUpIntervalMinutes: 60 }],
    ['follow-ups without an interval', {}, { followUpEnabled: true, followUpMaxAttempts: 3 }],
    ['taking the number from follow-ups', followUp, { followUpMaxAttempts: null }],
    ['taking the interval from follow-ups', followUp, { followUpIntervalMinutes: null }],
    ['business hours without an end', {}, { followUpBusinessHoursStart: '09:00:00' }],
    ['business hours without a start', {}, { followUpBusinessHoursEnd: '17:00:00' }],
    ['taking the end from business hours', hours, { followUpBusinessHoursEnd: null }],
    ['business hours that end when they start', {}, { ...hours, followUpBusinessHoursEnd: '09:00:00' }],
    ['business hours that end before they start', hours, { followUpBusinessHoursEnd: '08:59:59' }],
    ['audio responses without a voice', {}, { audioResponseEnabled: true }],
    ['audio responses with an empty voice', {}, { audioResponseEnabled: true, ttsVoice: '' }],
    ['taking the voice from spoken answers', { audioResponseEnabled: true, ttsVoice: 'alloy' }, { ttsVoice: null }],
  ])('%s: nothing is changed', async (_what, before, change) => {
    const { publicId } = await makeAgent(app, before);
    await expectRefused(publicId, { description: 'New.', ...change }, 422, 'FEATURE_VALIDATION_ERROR');
  });

  test('a request that sets both is accepted', async () => {
    const { publicId } = await makeAgent(app, { ...followUp, ...hours, audioResponseEnabled: true, ttsVoice: 'alloy' });
    const { status } = await update(publicId, {
      followUpEnabled: null,
      followUpMaxAttempts: null,
      followUpBusinessHoursStart: null,
      followUpBusinessHoursEnd: null,
      audioResponseEnabled: false,
      ttsVoice: null,
    });
    expect(status).toBe(200);
  });
});
