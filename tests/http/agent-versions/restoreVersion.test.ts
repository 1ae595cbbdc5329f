import { sql } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import {
  addModel,
  makeReadyAgent,
  makeVariable,
  publish,
  readAgent,
  setStatus,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { adminQuery } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const restore = (agentId: string, versionNumber: number | string, key?: string) =>
  app.api('post', `/agents/${agentId}/versions/${versionNumber}/restore`, key);
const change = (agentId: string, body: object) => app.api('patch', `/agents/${agentId}`).send(body).expect(200);
const variablesOf = async (agentId: string) => (await app.api('get', `/agents/${agentId}/prompt/variables`)).body;

const FIRST = {
  systemPrompt: 'Hi {{city}}.',
  temperature: 0.4,
  thinkingEnabled: true,
  thinkingEffort: 'medium',
  dynamicPromptEnabled: true,
  audioResponseEnabled: true,
  ttsVoice: 'alloy',
  messageDelayType: 'LOW',
  followUpEnabled: true,
  followUpIntervalMinutes: 60,
  followUpMaxAttempts: 3,
  followUpBusinessHoursStart: '09:00:00',
  followUpBusinessHoursEnd: '18:00:00',
} as const;

/** Every field of FIRST, cleared or switched off. */
const CLEARED = Object.fromEntries(Object.keys(FIRST).map((field) => [field, null]));

/** An agent that was published with FIRST. */
async function makePublished() {
  const agent = await makeReadyAgent(app, FIRST);
  return publish(app, agent.publicId);
}

describe('200', () => {
  test('overwrites every setting of the editable state, and returns the resulting agent', async () => {
    const published = await makePublished();
    await change(published.publicId, { ...CLEARED, webSearchEnabled: true, aiModelPublicId: null });
    clock.advance(1000);
    const { status, body } = await restore(published.publicId, 1);
    expect(status).toBe(200);
    expect(body).toEqual({ ...published, updatedAt: clock.now().toISOString() });
    expect(body).toMatchObject({ ...FIRST, webSearchEnabled: false, hasUnpublishedChanges: false });
    expect(await readAgent(app, published.publicId)).toEqual(body);
  });

  test('after an earlier version is restored the published one stays until the next publication, which gets a new number', async () => {
    const { publicId } = await makePublished();
    await change(publicId, { systemPrompt: 'Second.' });
    await publish(app, publicId);
    const { body } = await restore(publicId, 1);
    expect(body).toMatchObject({
      systemPrompt: FIRST.systemPrompt,
      status: 'active',
      draftVersionNumber: 3,
      publishedVersionNumber: 2,
      hasUnpublishedChanges: false,
    });
    const running = await app.api('get', `/agents/${publicId}/versions/published`);
    expect(running.body).toMatchObject({ versionNumber: 2, systemPrompt: 'Second.' });
    await publish(app, publicId);
    const third = await app.api('get', `/agents/${publicId}/versions/published`);
    expect(third.body).toMatchObject({ versionNumber: 3, systemPrompt: FIRST.systemPrompt });
  });

  test('a later change is unpublished', async () => {
    const { publicId } = await makePublished();
    await restore(publicId, 1).expect(200);
    await change(publicId, { systemPrompt: 'Other.' });
    expect((await readAgent(app, publicId)).hasUnpublishedChanges).toBe(true);
  });

  test('name, description, avatar and categories stay: they do not belong to versions', async () => {
    const { publicId } = await makePublished();
    const metadata = {
      name: `Renamed ${publicId}`,
      description: 'New.',
      avatarUrl: 'https://acme.example/a.png',
      categories: ['new'],
    };
    await change(publicId, metadata);
    expect((await restore(publicId, 1)).body).toMatchObject(metadata);
  });

  test('restores the variables of the version: changed, renamed and purged ones return, new ones are removed', async () => {
    const agent = await makeReadyAgent(app);
    const id = agent.publicId;
    const kinds: Partial<components['schemas']['AgentVariableCreate']>[] = [
      { name: 'changed', label: 'Old', defaultValue: 'x' },
      { name: 'renamed', type: 'bool', booleanTextWhenTrue: 'yes', defaultValue: false },
      { name: 'purged', type: 'number', defaultValue: 0, sortOrder: 4, required: true },
      {
        name: 'chosen',
        type: 'multi_choice',
        multiChoiceSeparator: '/',
        options: [
          { label: 'A', injectedText: 'a' },
          { label: 'B', injectedText: 'b' },
        ],
        defaultValue: ['B'],
      },
    ];
    for (const kind of kinds) await makeVariable(app, id, kind);
    const before = await variablesOf(id);
    await publish(app, id);
    clock.advance(1000);
    const path = (name: string) =>
      `/agents/${id}/prompt/variables/${before.find((one: { name: string }) => one.name === name).publicId}`;
    await app.api('patch', path('changed')).send({ label: 'New', type: 'text_long', defaultValue: null }).expect(200);
    await app.api('patch', path('renamed')).send({ name: 'other' }).expect(200);
    await app
      .api('patch', path('chosen'))
      .send({ options: [{ label: 'B', injectedText: 'c' }] })
      .expect(200);
    await app.api('delete', `${path('purged')}?mode=purge&confirmation=DELETE`).expect(204);
    await makeVariable(app, id, { name: 'renamed' });
    await restore(id, 1).expect(200);
    const updatedAt = clock.now().toISOString();
    expect(await variablesOf(id)).toEqual(before.map((variable: object) => ({ ...variable, updatedAt })));
  });

  test('a restored draft equals the version: publishing it gives the same snapshot', async () => {
    const { publicId } = await makePublished();
    await makeVariable(app, publicId, { name: 'city', defaultValue: 'Rome' });
    await publish(app, publicId, 'Same.');
    await change(publicId, CLEARED);
    await restore(publicId, 2).expect(200);
    await publish(app, publicId, 'Same.');
    const [two, three] = await Promise.all(
      [2, 3].map(async (number) => (await app.api('get', `/agents/${publicId}/versions/${number}`)).body),
    );
    expect({ ...three, versionNumber: 2 }).toEqual(two);
  });

  test('clears a model that is no longer available and restores the rest', async () => {
    const model = await addModel(app.workspace);
    const agent = await makeReadyAgent(app, { aiModelPublicId: model, systemPrompt: 'Old.', temperature: 0.5 });
    await publish(app, agent.publicId);
    await change(agent.publicId, { systemPrompt: 'New.' });
    await app.database.database.system
      .updateTable('ai_models')
      .set({ deleted_at: clock.now() })
      .where('id', '=', model)
      .execute();
    const { status, body } = await restore(agent.publicId, 1);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      aiModelPublicId: null,
      aiModelName: null,
      systemPrompt: 'Old.',
      temperature: 0.5,
      hasUnpublishedChanges: false,
    });
    const refused = await app.api('post', `/agents/${agent.publicId}/publish`).send({});
    expect(refused.body.code).toBe('AI_MODEL_REQUIRED');
  });

  test('needs no body and changes no version', async () => {
    const { publicId } = await makePublished();
    const before = (await app.api('get', `/agents/${publicId}/versions/1`)).body;
    await change(publicId, CLEARED);
    await restore(publicId, 1).expect(200);
    expect((await app.api('get', `/agents/${publicId}/versions/1`)).body).toEqual(before);
    expect((await app.api('get', `/agents/${publicId}/versions`)).body.total).toBe(1);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['0', 'first', '2147483648'])('refuses %s as a version number', async (number) => {
    const { publicId } = await makePublished();
    const { status, body } = await restore(publicId, number);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and keeps its draft", async () => {
    const { publicId } = await makePublished();
    await change(publicId, { systemPrompt: 'Mine.' });
    const before = await readAgent(app, publicId);
    const missing = await restore(newId(), 1, app.stranger.apiKey);
    const { status, body } = await restore(publicId, 1, app.stranger.apiKey);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await readAgent(app, publicId)).toEqual(before);
  });
});

describe('404 VERSION_NOT_FOUND', () => {
  test('the number of the draft is no version number', async () => {
    const { publicId } = await makePublished();
    await change(publicId, { systemPrompt: 'New.' });
    const before = await readAgent(app, publicId);
    const { status, body } = await restore(publicId, 2);
    expect([status, body.code]).toEqual([404, 'VERSION_NOT_FOUND']);
    expect(await readAgent(app, publicId)).toEqual(before);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to overwrite', async () => {
    const { publicId } = await makePublished();
    await change(publicId, { systemPrompt: 'New.' });
    await setStatus(app.workspace, publicId, 'archived');
    const before = await readAgent(app, publicId);
    const { status, body } = await restore(publicId, 1);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
    expect(await readAgent(app, publicId)).toEqual(before);
  });
});

test('an agent with 7,000 sub-agents is published, read and restored, without reading all agents for each of them', async () => {
  const { publicId } = await makeReadyAgent(app);
  const { db, workspaceId } = app.workspace;
  // Nothing has counted the rows of these tables: the planner takes them for a few.
  await sql`
    with made as (
      insert into agents (workspace_id, id, name, status, published_version_number, draft_version_number)
      select ${workspaceId}::uuid, gen_random_uuid(), 'Sub ' || place, 'active', 1, 2 from generate_series(1, 7000) place returning id
    )
    insert into agent_links (workspace_id, agent_id, kind, target_id)
    select ${workspaceId}::uuid, ${publicId}::uuid, 'sub_agent', id from made`.execute(db);
  await publish(app, publicId);
  const version = await app.api('get', `/agents/${publicId}/versions/1`);
  expect([version.status, version.body.subAgents.length]).toEqual([200, 7_000]);
  const [first] = version.body.subAgents;
  await app.api('delete', `/agents/${publicId}/sub-agents/${first.subAgentPublicId}`).expect(204);
  expect((await readAgent(app, publicId)).hasUnpublishedChanges).toBe(true);
  const { status, body } = await restore(publicId, 1);
  expect([status, body.hasUnpublishedChanges]).toEqual([200, false]);
  await publish(app, publicId);
  const again = await app.api('get', `/agents/${publicId}/versions/2`);
  expect(again.body.subAgents).toEqual(version.body.subAgents);
});

describe('500 INTERNAL_ERROR', () => {
  test('a restoration that fails halfway changes neither settings nor variables', async () => {
    const { publicId } = await makePublished();
    await makeVariable(app, publicId);
    await change(publicId, { systemPrompt: 'New.' });
    const [agent, variables] = [await readAgent(app, publicId), await variablesOf(publicId)];
    const { name } = app.database;
    await adminQuery(
      "create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$",
      name,
    );
    await adminQuery('create trigger fail before update on agents execute function fail()', name);
    try {
      expect((await restore(publicId, 1)).status).toBe(500);
    } finally {
      await adminQuery('drop trigger fail on agents', name);
    }
    expect(await readAgent(app, publicId)).toEqual(agent);
    expect(await variablesOf(publicId)).toEqual(variables);
  });
});
