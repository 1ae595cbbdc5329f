import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeTool } from '../../support/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const link = (agentId: string, httpToolPublicId: unknown) =>
  app.api('post', `/agents/${agentId}/http-tools`).send({ httpToolPublicId });
const linksOf = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/http-tools`, key)).body;

describe('201', () => {
  test.each([true, false])('the tool is linked, active, with its own requiresApproval %s', async (requiresApproval) => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app, { requiresApproval })];
    const { status, body } = await link(agent.publicId, tool.publicId);
    expect(status).toBe(201);
    expect(body).toEqual({
      httpToolPublicId: tool.publicId,
      toolName: tool.name,
      toolType: 'HTTP_REQUEST',
      active: true,
      requiresApproval,
    });
    expect(await linksOf(agent.publicId)).toEqual([body]);
  });

  test("a later change of the tool's requiresApproval leaves the link's as it is", async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app, { requiresApproval: true })];
    const { body } = await link(agent.publicId, tool.publicId);
    await app.api('patch', `/http-tools/${tool.publicId}`).send({ requiresApproval: false });
    expect(await linksOf(agent.publicId)).toEqual([body]);
  });

  test('it is an unpublished change, which the next version has', async () => {
    const [agent, tool] = [await makeReadyAgent(app), await makeTool(app)];
    await publish(app, agent.publicId);
    const { body } = await link(agent.publicId, tool.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    await publish(app, agent.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
    const version = await app.api('get', `/agents/${agent.publicId}/versions/2`);
    expect(version.body.httpTools).toEqual([body]);
  });

  test('several agents may have one tool', async () => {
    const [one, two, tool] = [await makeAgent(app), await makeAgent(app), await makeTool(app)];
    for (const agent of [one, two]) expect((await link(agent.publicId, tool.publicId)).status).toBe(201);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['no-id', 7, null, undefined])('refuses the id %j', async (id) => {
    const agent = await makeAgent(app);
    const { status, body } = await link(agent.publicId, id);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and gets no tool", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const tool = await makeTool(app);
    const missing = await link(newId(), tool.publicId);
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    const { status, body } = await link(foreign.publicId, tool.publicId);
    expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    expect(await linksOf(foreign.publicId, app.stranger.apiKey)).toEqual([]);
  });
});

describe('404 HTTP_TOOL_NOT_FOUND', () => {
  test("another workspace's tool and a deleted one answer as one that does not exist", async () => {
    const agent = await makeAgent(app);
    const foreign = await makeTool(app, {}, app.stranger.apiKey);
    const deleted = await makeTool(app);
    await app.api('delete', `/http-tools/${deleted.publicId}`);
    const missing = await link(agent.publicId, newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'HTTP_TOOL_NOT_FOUND']);
    for (const { publicId } of [foreign, deleted]) {
      const { status, body } = await link(agent.publicId, publicId);
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
    expect(await linksOf(agent.publicId)).toEqual([]);
  });

  test('a tool that is deleted meanwhile is linked to no agent', async () => {
    const agents = await Promise.all([1, 2, 3].map(() => makeAgent(app)));
    const tool = await makeTool(app);
    const [deleted, ...linked] = await Promise.all([
      app.api('delete', `/http-tools/${tool.publicId}`),
      ...agents.map(({ publicId }) => link(publicId, tool.publicId)),
    ]);
    expect(deleted.status).toBe(204);
    expect(linked.every(({ status }) => status === 201 || status === 404)).toBe(true);
    for (const { publicId } of agents) expect(await linksOf(publicId)).toEqual([]);
  });
});

describe('409 ALREADY_LINKED', () => {
  test('a tool is linked to an agent once, also by several requests at the same time', async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app)];
    const answers = await Promise.all([1, 2, 3].map(() => link(agent.publicId, tool.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await link(agent.publicId, tool.publicId)).body.code).toBe('ALREADY_LINKED');
    expect(await linksOf(agent.publicId)).toHaveLength(1);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to link to', async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app)];
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await link(agent.publicId, tool.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
