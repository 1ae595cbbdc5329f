import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeTool } from '../../support/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unlink = (agentId: string, toolId: string) => app.api('delete', `/agents/${agentId}/http-tools/${toolId}`);
const link = (agentId: string, httpToolPublicId: string, key?: string) =>
  app.api('post', `/agents/${agentId}/http-tools`, key).send({ httpToolPublicId });
const linksOf = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/http-tools`, key)).body;

describe('204', () => {
  test('the link is gone, the tool and its link to another agent stay', async () => {
    const [one, two, tool] = [await makeAgent(app), await makeAgent(app), await makeTool(app)];
    for (const { publicId } of [one, two]) await link(publicId, tool.publicId);
    expect((await unlink(one.publicId, tool.publicId)).status).toBe(204);
    expect(await linksOf(one.publicId)).toEqual([]);
    expect(await linksOf(two.publicId)).toHaveLength(1);
    expect((await app.api('get', `/http-tools/${tool.publicId}`)).body).toEqual(tool);
  });

  test('it is an unpublished change, and the published version keeps the tool', async () => {
    const [agent, tool] = [await makeReadyAgent(app), await makeTool(app)];
    await link(agent.publicId, tool.publicId);
    await publish(app, agent.publicId);
    await unlink(agent.publicId, tool.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    const version = await app.api('get', `/agents/${agent.publicId}/versions/1`);
    expect(version.body.httpTools).toMatchObject([{ httpToolPublicId: tool.publicId }]);
  });

  test('it can be linked again', async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app)];
    await link(agent.publicId, tool.publicId);
    await unlink(agent.publicId, tool.publicId);
    expect((await link(agent.publicId, tool.publicId)).status).toBe(201);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and keeps its tool", async () => {
    const { apiKey } = app.stranger;
    const foreign = await makeAgent(app, {}, apiKey);
    const tool = await makeTool(app, {}, apiKey);
    await link(foreign.publicId, tool.publicId, apiKey);
    const missing = await unlink(newId(), tool.publicId);
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    const { status, body } = await unlink(foreign.publicId, tool.publicId);
    expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    expect(await linksOf(foreign.publicId, apiKey)).toHaveLength(1);
  });
});

describe('404 NOT_LINKED', () => {
  test("a tool that is not linked, one that does not exist and another workspace's are the same", async () => {
    const agent = await makeAgent(app);
    const unlinked = await makeTool(app);
    const foreign = await makeTool(app, {}, app.stranger.apiKey);
    const missing = await unlink(agent.publicId, newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'NOT_LINKED']);
    for (const { publicId } of [unlinked, foreign]) {
      const { status, body } = await unlink(agent.publicId, publicId);
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
  });

  test('of two at the same time one finds the link', async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app)];
    await link(agent.publicId, tool.publicId);
    const answers = await Promise.all([1, 2].map(() => unlink(agent.publicId, tool.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to unlink from', async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app)];
    await link(agent.publicId, tool.publicId);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await unlink(agent.publicId, tool.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
