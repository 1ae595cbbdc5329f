import { newId } from '../../../core/ids.ts';
import {
  makeAgent,
  makeReadyAgent,
  makeVariable,
  publish,
  readAgent,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { adminQuery, type SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (agentId: string, variableId: string, query = '') =>
  app.api('delete', `/agents/${agentId}/prompt/variables/${variableId}${query}`);
const list = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/prompt/variables`, key)).body;

/** A conversation of the agent with this metadata; `read` gives the metadata that is stored now. */
async function converse({ workspaceId, db }: SeededWorkspace, agentId: string, metadata: object, deleted = false) {
  const id = newId();
  const row = { workspace_id: workspaceId, id, agent_id: agentId, external_user_id: 'user_42' };
  await db
    .insertInto('conversations')
    .values({ ...row, metadata: JSON.stringify(metadata), deleted_at: deleted ? app.clock.now() : null })
    .execute();
  const stored = db.selectFrom('conversations').select('metadata').where('workspace_id', '=', workspaceId);
  return { read: async () => (await stored.where('id', '=', id).executeTakeFirstOrThrow()).metadata };
}

describe('204', () => {
  test('by default removes every reference from the prompt and keeps the variable', async () => {
    const agent = await makeAgent(app, { systemPrompt: 'Hi {{city}}, {{ city }}! {{city_name}} {{other}}' });
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    const conversation = await converse(app.workspace, agent.publicId, { variables: { city: 'Rome' } });
    const { status, text } = await remove(agent.publicId, variable.publicId);
    expect([status, text]).toEqual([204, '']);
    expect((await readAgent(app, agent.publicId)).systemPrompt).toBe('Hi , ! {{city_name}} {{other}}');
    expect(await list(agent.publicId)).toEqual([variable]);
    expect(await conversation.read()).toEqual({ variables: { city: 'Rome' } });
  });

  test('mode=remove_from_prompt needs no confirmation, and no prompt either', async () => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId);
    expect((await remove(agent.publicId, variable.publicId, '?mode=remove_from_prompt')).status).toBe(204);
    expect((await readAgent(app, agent.publicId)).systemPrompt).toBeNull();
    expect(await list(agent.publicId)).toEqual([variable]);
  });

  test('mode=purge removes the variable and leaves the prompt', async () => {
    const agent = await makeAgent(app, { systemPrompt: 'Hi {{city}}.' });
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    const other = await makeVariable(app, agent.publicId);
    expect((await remove(agent.publicId, variable.publicId, '?mode=purge&confirmation=DELETE')).status).toBe(204);
    expect(await list(agent.publicId)).toEqual([other]);
    expect((await readAgent(app, agent.publicId)).systemPrompt).toBe('Hi {{city}}.');
    await makeVariable(app, agent.publicId, { name: 'city' });
  });

  test("mode=purge erases the values that the agent's conversations have stored, and nothing else", async () => {
    const agent = await makeAgent(app);
    const other = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    const metadata = { city: 'kept', variables: { city: 'Rome', town: { city: 'kept' } }, plan: 'pro' };
    const own = await converse(app.workspace, agent.publicId, metadata);
    const deleted = await converse(app.workspace, agent.publicId, metadata, true);
    const odd = await converse(app.workspace, agent.publicId, { variables: 'city' });
    const others = await converse(app.workspace, other.publicId, metadata);
    await remove(agent.publicId, variable.publicId, '?mode=purge&confirmation=DELETE').expect(204);
    const without = { city: 'kept', variables: { town: { city: 'kept' } }, plan: 'pro' };
    expect(await own.read()).toEqual(without);
    expect(await deleted.read()).toEqual(without);
    expect(await odd.read()).toEqual({ variables: 'city' });
    expect(await others.read()).toEqual(metadata);
  });

  test('mode=purge leaves the published version as it is', async () => {
    const agent = await makeReadyAgent(app, { systemPrompt: 'Hi {{city}}.' });
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    await publish(app, agent.publicId);
    await remove(agent.publicId, variable.publicId, '?mode=purge&confirmation=DELETE').expect(204);
    const { body } = await app.api('get', `/agents/${agent.publicId}/versions/published`);
    expect(body.variablesSnapshot).toEqual({ city: variable });
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });

  test('purging is an unpublished change, also after a variable with the same definition is created', async () => {
    const agent = await makeReadyAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    await publish(app, agent.publicId);
    await remove(agent.publicId, variable.publicId, '?mode=purge&confirmation=DELETE').expect(204);
    await makeVariable(app, agent.publicId, { name: 'city' });
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });

  test('removing a reference is an unpublished change; without a reference nothing changes', async () => {
    const agent = await makeReadyAgent(app, { systemPrompt: 'Hi {{city}}.' });
    const city = await makeVariable(app, agent.publicId, { name: 'city' });
    const orphan = await makeVariable(app, agent.publicId, { name: 'orphan' });
    await publish(app, agent.publicId);
    await remove(agent.publicId, orphan.publicId).expect(204);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
    await remove(agent.publicId, city.publicId).expect(204);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test('refuses an unknown mode', async () => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId);
    const { status, body } = await remove(agent.publicId, variable.publicId, '?mode=shred&confirmation=DELETE');
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await list(agent.publicId)).toEqual([variable]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and keeps its variable", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const variable = await makeVariable(app, foreign.publicId, { name: 'city' }, app.stranger.apiKey);
    const conversation = await converse(app.stranger, foreign.publicId, { variables: { city: 'Rome' } });
    const missing = await remove(newId(), variable.publicId, '?mode=purge&confirmation=DELETE');
    const { status, body } = await remove(foreign.publicId, variable.publicId, '?mode=purge&confirmation=DELETE');
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await list(foreign.publicId, app.stranger.apiKey)).toEqual([variable]);
    expect(await conversation.read()).toEqual({ variables: { city: 'Rome' } });
  });
});

describe('404 VARIABLE_NOT_FOUND', () => {
  test('an unknown variable, one of another agent and a purged one get the same response', async () => {
    const agent = await makeAgent(app);
    const other = await makeAgent(app);
    const elsewhere = await makeVariable(app, other.publicId);
    const purged = await makeVariable(app, agent.publicId);
    await remove(agent.publicId, purged.publicId, '?mode=purge&confirmation=DELETE').expect(204);
    const missing = await remove(agent.publicId, newId(), '?mode=purge&confirmation=DELETE');
    expect([missing.status, missing.body.code]).toEqual([404, 'VARIABLE_NOT_FOUND']);
    for (const id of [elsewhere.publicId, purged.publicId]) {
      const answer = await remove(agent.publicId, id, '?mode=purge&confirmation=DELETE');
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer.body)).toEqual(withoutRequestId(missing.body));
    }
    expect(await list(other.publicId)).toEqual([elsewhere]);
  });
});

describe('a confirmation in the body', () => {
  test.each(['', '&confirmation=', '&confirmation=no'])('purges with mode=purge%s', async (confirmation) => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    await remove(agent.publicId, variable.publicId, `?mode=purge${confirmation}`)
      .send({ confirmation: 'DELETE' })
      .expect(204);
    expect(await list(agent.publicId)).toEqual([]);
  });

  test('purges nothing without mode=purge', async () => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    await remove(agent.publicId, variable.publicId, '').send({ confirmation: 'DELETE' }).expect(204);
    expect(await list(agent.publicId)).toEqual([variable]);
  });

  test.each<[object | null, number]>([
    [{ confirmation: 'delete' }, 422],
    [{ confirmation: null }, 422],
    [null, 422],
    [{}, 422],
    [{ confirmation: true }, 400],
    [{ confirmed: 'DELETE' }, 400],
  ])('%j does not purge', async (body, status) => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    const request = remove(agent.publicId, variable.publicId, '?mode=purge').set('Content-Type', 'application/json');
    expect((await request.send(JSON.stringify(body))).status).toBe(status);
    expect(await list(agent.publicId)).toEqual([variable]);
  });
});

describe('422 CONFIRMATION_REQUIRED', () => {
  test.each(['', '&confirmation=', '&confirmation=delete', '&confirmation=yes'])(
    'mode=purge%s removes nothing',
    async (confirmation) => {
      const agent = await makeAgent(app, { systemPrompt: 'Hi {{city}}.' });
      const variable = await makeVariable(app, agent.publicId, { name: 'city' });
      const conversation = await converse(app.workspace, agent.publicId, { variables: { city: 'Rome' } });
      const { status, body } = await remove(agent.publicId, variable.publicId, `?mode=purge${confirmation}`);
      expect([status, body.code]).toEqual([422, 'CONFIRMATION_REQUIRED']);
      expect(await list(agent.publicId)).toEqual([variable]);
      expect(await conversation.read()).toEqual({ variables: { city: 'Rome' } });
      expect((await readAgent(app, agent.publicId)).systemPrompt).toBe('Hi {{city}}.');
    },
  );
});

describe('500 INTERNAL_ERROR', () => {
  test('a purge that fails halfway changes nothing', async () => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'city' });
    await converse(app.workspace, agent.publicId, { variables: { city: 'Rome' } });
    const { name } = app.database;
    await adminQuery(
      "create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$",
      name,
    );
    await adminQuery('create trigger fail before update on conversations execute function fail()', name);
    try {
      const { status } = await remove(agent.publicId, variable.publicId, '?mode=purge&confirmation=DELETE');
      expect(status).toBe(500);
    } finally {
      await adminQuery('drop trigger fail on conversations', name);
    }
    expect(await list(agent.publicId)).toEqual([variable]);
    expect((await readAgent(app, agent.publicId)).updatedAt).toBe(agent.updatedAt);
  });
});
