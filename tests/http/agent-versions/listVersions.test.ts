import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, setStatus, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const list = (agentId: string, query = '') => app.api('get', `/agents/${agentId}/versions${query}`);

/** Publishes an agent three times, one minute apart. Returns the expected list, newest first. */
async function publishThrice(agentId: string) {
  const versions = [];
  for (const notes of ['First.', undefined, 'Third.']) {
    clock.advance(60_000);
    const { publishedVersionNumber } = await publish(app, agentId, notes);
    versions.unshift({
      versionNumber: publishedVersionNumber,
      notes: notes ?? null,
      createdAt: clock.now().toISOString(),
    });
  }
  return versions;
}

describe('200', () => {
  test('an agent that was never published has no versions: the draft is none', async () => {
    const agent = await makeReadyAgent(app);
    const { status, body } = await list(agent.publicId);
    expect(status).toBe(200);
    expect(body).toEqual({ items: [], page: 1, limit: 20, total: 0, totalPages: 0 });
  });

  test('lists number, notes and time of each version, the newest first', async () => {
    const agent = await makeReadyAgent(app);
    const versions = await publishThrice(agent.publicId);
    const { body } = await list(agent.publicId);
    expect(body).toEqual({ items: versions, page: 1, limit: 20, total: 3, totalPages: 1 });
    expect(versions.map(({ versionNumber }) => versionNumber)).toEqual([3, 2, 1]);
  });

  test('a page past the end is empty and still has the total', async () => {
    const agent = await makeReadyAgent(app);
    const versions = await publishThrice(agent.publicId);
    const pages = { limit: 2, total: 3, totalPages: 2 };
    expect((await list(agent.publicId, '?limit=2')).body).toEqual({ items: versions.slice(0, 2), page: 1, ...pages });
    expect((await list(agent.publicId, '?limit=2&page=2')).body).toEqual({
      items: versions.slice(2),
      page: 2,
      ...pages,
    });
    expect((await list(agent.publicId, '?limit=2&page=9')).body).toEqual({ items: [], page: 9, ...pages });
  });

  test('each agent has its own version numbers', async () => {
    const [one, two] = [await makeReadyAgent(app), await makeReadyAgent(app)];
    await publishThrice(one.publicId);
    await publish(app, two.publicId);
    expect((await list(two.publicId)).body.items).toEqual([
      { versionNumber: 1, notes: null, createdAt: clock.now().toISOString() },
    ]);
  });

  test('an archived agent still has its versions', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    await setStatus(app.workspace, agent.publicId, 'archived');
    expect((await list(agent.publicId)).body.total).toBe(1);
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

  test('the versions of a deleted agent do not exist', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    await app.api('delete', `/agents/${agent.publicId}`).expect(204);
    const { status, body } = await list(agent.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
  });
});
