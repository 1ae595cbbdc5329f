import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSource, readSource } from '../../support/knowledge.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const link = (agentId: string, id: string, key?: string) =>
  app.api('post', `/agents/${agentId}/knowledge-sources`, key).send({ knowledgeSourcePublicId: id });
const unlink = (agentId: string, id: string) => app.api('delete', `/agents/${agentId}/knowledge-sources/${id}`);
const linksOf = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/knowledge-sources`, key)).body;

describe('204', () => {
  test('the link is gone, the source stays; linked again, all is as before', async () => {
    const [agent, source] = [await makeReadyAgent(app), await makeSource(app)];
    await link(agent.publicId, source.publicId);
    await publish(app, agent.publicId);
    expect((await unlink(agent.publicId, source.publicId)).status).toBe(204);
    expect(await linksOf(agent.publicId)).toEqual([]);
    expect(await readSource(app, source.publicId)).toEqual(source);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    expect((await link(agent.publicId, source.publicId)).status).toBe(201);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and keeps its source", async () => {
    const { apiKey } = app.stranger;
    const [foreign, source] = [await makeAgent(app, {}, apiKey), await makeSource(app, {}, apiKey)];
    await link(foreign.publicId, source.publicId, apiKey);
    const missing = await unlink(newId(), source.publicId);
    const { status, body } = await unlink(foreign.publicId, source.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await linksOf(foreign.publicId, apiKey)).toHaveLength(1);
  });
});

describe('404 NOT_LINKED', () => {
  test("a source that is not linked, one that does not exist and another workspace's are alike", async () => {
    const agent = await makeAgent(app);
    const answers = [];
    const ids = [(await makeSource(app)).publicId, newId(), (await makeSource(app, {}, app.stranger.apiKey)).publicId];
    for (const id of ids) answers.push(await unlink(agent.publicId, id));
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([404, 'NOT_LINKED']));
    const bodies = answers.map(({ body }) => withoutRequestId(body));
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
  });

  test('of two at the same time one unlinks it', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    await link(agent.publicId, source.publicId);
    const answers = await Promise.all([1, 2].map(() => unlink(agent.publicId, source.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to change', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    await link(agent.publicId, source.publicId);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await unlink(agent.publicId, source.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
