import { readAgent, setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function create(body: object, key?: string) {
  return app.api('post', '/agents', key).send(body);
}

async function total(key?: string): Promise<number> {
  return (await app.api('get', '/agents?includeArchived=true', key)).body.total;
}

describe('201', () => {
  test('the agent is an empty draft', async () => {
    const { status, body } = await create({ name: 'Empty' });
    const now = app.clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      publicId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name: 'Empty',
      description: null,
      avatarUrl: null,
      categories: [],
      status: 'draft',
      draftVersionNumber: 1,
      publishedVersionNumber: null,
      hasUnpublishedChanges: true,
      hasExternalChannel: false,
      aiModelName: null,
      systemPrompt: null,
      aiModelPublicId: null,
      temperature: null,
      thinkingEnabled: false,
      thinkingEffort: null,
      webSearchEnabled: false,
      sandboxEnabled: false,
      genuiEnabled: false,
      dynamicPromptEnabled: false,
      audioListeningEnabled: false,
      audioResponseEnabled: false,
      ttsVoice: null,
      longTermMemoryEnabled: false,
      memoryCustomInstructions: null,
      messageDelayEnabled: false,
      messageDelayType: null,
      messageSplittingEnabled: false,
      followUpEnabled: false,
      followUpAfterHours: null,
      followUpInactivityMinutes: null,
      followUpIntervalMinutes: null,
      followUpMaxAttempts: null,
      followUpBusinessHoursStart: null,
      followUpBusinessHoursEnd: null,
      followUpPrompt: null,
      createdAt: now,
      updatedAt: now,
    });
    expect(await readAgent(app, body.publicId)).toEqual(body);
  });

  test('stores every field, up to its maximum length', async () => {
    const given = {
      name: '🦊'.repeat(150),
      description: 'é'.repeat(2000),
      avatarUrl: `https://example.com/${'a'.repeat(1004)}`,
      categories: Array.from({ length: 10 }, (_, i) => `${i}${'ü'.repeat(99)}`),
    };
    const { status, body } = await create(given);
    expect(status).toBe(201);
    expect(body).toMatchObject(given);
    expect(await readAgent(app, body.publicId)).toMatchObject(given);
  });

  test('equal categories are stored once, in their order', async () => {
    const { status, body } = await create({ name: 'Twice', categories: ['b', 'a', 'b', 'A'] });
    expect([status, body.categories]).toEqual([201, ['b', 'a', 'A']]);
  });

  test('null leaves an optional field empty', async () => {
    const { status, body } = await create({ name: 'Nulls', description: null, avatarUrl: null, categories: null });
    expect([status, body.description, body.avatarUrl, body.categories]).toEqual([201, null, null, []]);
  });

  test('text is returned unchanged, whatever characters it has', async () => {
    const name = ` '; drop table agents; -- <b>"\\%_{{x}}\u202e\r\n\t `;
    const { status, body } = await create({ name });
    expect([status, body.name]).toEqual([201, name]);
  });
});

describe('400', () => {
  test.each([
    ['no name', {}, '/body/name'],
    ['an empty name', { name: '' }, '/body/name'],
    ['a blank name', { name: ' \n\u3000' }, '/body/name'],
    ['a name of null', { name: null }, '/body/name'],
    ['a long name', { name: 'a'.repeat(151) }, '/body/name'],
    ['a long description', { name: 'Bad', description: 'a'.repeat(2001) }, '/body/description'],
    ['a script for a picture', { name: 'Bad', avatarUrl: 'javascript:alert(1)' }, '/body/avatarUrl'],
    ['another scheme', { name: 'Bad', avatarUrl: 'ftp://example.com/a.png' }, '/body/avatarUrl'],
    ['half an address', { name: 'Bad', avatarUrl: 'https://' }, '/body/avatarUrl'],
    ['a long address', { name: 'Bad', avatarUrl: `https://${'a'.repeat(1017)}` }, '/body/avatarUrl'],
    [
      'eleven categories',
      { name: 'Bad', categories: Array.from({ length: 11 }, (_, i) => `c${i}`) },
      '/body/categories',
    ],
    ['an empty category', { name: 'Bad', categories: [''] }, '/body/categories/0'],
    ['a long category', { name: 'Bad', categories: ['ok', 'a'.repeat(101)] }, '/body/categories/1'],
    ['a status', { name: 'Bad', status: 'active' }, '/body/status'],
    ['an id', { name: 'Bad', publicId: '0199a3f2-0000-7000-8000-00000000dead' }, '/body/publicId'],
    ['a prompt', { name: 'Bad', systemPrompt: 'Be kind.' }, '/body/systemPrompt'],
  ])('%s: nothing is created', async (_what, body, path) => {
    const before = await total();
    const answer = await create(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(await total()).toBe(before);
  });
});

describe('409 AGENT_NAME_TAKEN', () => {
  test('a name is unique in a workspace, also among archived agents', async () => {
    const first = await create({ name: 'Unique' });
    const again = await create({ name: 'Unique' });
    expect([again.status, again.body.code]).toEqual([409, 'AGENT_NAME_TAKEN']);
    await setStatus(app.workspace, first.body.publicId, 'archived');
    expect((await create({ name: 'Unique' })).status).toBe(409);
  });

  test('the name of another workspace’s agent, a name in other letter case and the name of a deleted agent are free', async () => {
    const first = await create({ name: 'Shared' });
    expect((await create({ name: 'Shared' }, app.stranger.apiKey)).status).toBe(201);
    expect((await create({ name: 'shared' })).status).toBe(201);
    await app.api('delete', `/agents/${first.body.publicId}`);
    expect((await create({ name: 'Shared' })).status).toBe(201);
  });

  test('of concurrent requests exactly one gets the name', async () => {
    const before = await total();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'Race' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    expect(await total()).toBe(before + 1);
  });
});

describe('422 AGENT_LIMIT_REACHED', () => {
  test('archived agents count towards the limit of the workspace, and deleted ones do not', async () => {
    const { apiKey, db } = await app.database.seedWorkspace({ agentLimit: 2 });
    const first = await create({ name: 'One' }, apiKey);
    await create({ name: 'Two' }, apiKey);
    const third = await create({ name: 'Three' }, apiKey);
    expect([third.status, third.body.code]).toEqual([422, 'AGENT_LIMIT_REACHED']);
    await db
      .updateTable('agents')
      .set({ status: 'archived', draft_version_number: null })
      .where('id', '=', first.body.publicId)
      .execute();
    expect((await create({ name: 'Three' }, apiKey)).status).toBe(422);
    await app.api('delete', `/agents/${first.body.publicId}`, apiKey);
    expect((await create({ name: 'Three' }, apiKey)).status).toBe(201);
    expect(await total(apiKey)).toBe(2);
  });

  test('concurrent requests cannot exceed the limit', async () => {
    const { apiKey } = await app.database.seedWorkspace({ agentLimit: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => create({ name: `Race ${i}` }, apiKey)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422, 422, 422, 422]);
    expect(await total(apiKey)).toBe(3);
  });

  test('a limit of 0 allows none', async () => {
    const { apiKey } = await app.database.seedWorkspace({ agentLimit: 0 });
    expect((await create({ name: 'One' }, apiKey)).status).toBe(422);
  });
});
