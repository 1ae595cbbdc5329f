import { newId } from '../../../core/ids.ts';
import { makeAgent, makeVariable, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string, query = '') => app.api('get', `/agents/${agentId}/prompt/variables${query}`);
const namesOf = (body: { name: string }[]) => body.map(({ name }) => name);

describe('200', () => {
  test('an agent without variables has an empty list', async () => {
    const agent = await makeAgent(app);
    const { status, body } = await list(agent.publicId);
    expect([status, body]).toEqual([200, []]);
  });

  test('is sorted by sortOrder, and by creation where that is equal, also within a millisecond', async () => {
    const agent = await makeAgent(app);
    const other = await makeAgent(app);
    await makeVariable(app, agent.publicId, { name: 'last', sortOrder: 5 });
    const equal = ['delta', 'alpha', 'echo', 'bravo', 'charlie'];
    const made = [];
    for (const name of equal) made.push(await makeVariable(app, agent.publicId, { name, sortOrder: 1 }));
    await makeVariable(app, agent.publicId, { name: 'first' });
    await makeVariable(app, other.publicId, { name: 'foreign' });
    expect(new Set(made.map(({ createdAt }) => createdAt)).size).toBe(1);
    const { body } = await list(agent.publicId);
    expect(namesOf(body)).toEqual(['first', ...equal, 'last']);
    expect(body.slice(1, -1)).toEqual(made);
  });

  test('includeOrphaned=false leaves out what the editable prompt does not refer to', async () => {
    const agent = await makeAgent(app, {
      systemPrompt: 'Hi {{used}}, {{ spaced }}, {{unknown}} and {{used_too}}{{used}}.',
    });
    for (const name of ['used', 'spaced', 'used_too', 'orphan', 'use'])
      await makeVariable(app, agent.publicId, { name });
    expect(namesOf((await list(agent.publicId, '?includeOrphaned=false')).body)).toEqual([
      'used',
      'spaced',
      'used_too',
    ]);
    const all = ['used', 'spaced', 'used_too', 'orphan', 'use'];
    expect(namesOf((await list(agent.publicId, '?includeOrphaned=true')).body)).toEqual(all);
    expect(namesOf((await list(agent.publicId)).body)).toEqual(all);
  });

  test('without a prompt every variable is orphaned', async () => {
    const agent = await makeAgent(app);
    await makeVariable(app, agent.publicId);
    expect((await list(agent.publicId, '?includeOrphaned=false')).body).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await list(newId());
    const { status, body } = await list(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });

  test('a deleted agent has no variables', async () => {
    const agent = await makeAgent(app);
    await app.api('delete', `/agents/${agent.publicId}`).expect(204);
    const { status, body } = await list(agent.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
  });
});
