import { newId } from '../../../core/ids.ts';
import {
  makeAgent,
  makeReadyAgent,
  publish,
  readAgent,
  setStatus,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const update = (agentId: string, toolId: string, body: object) =>
  app.api('patch', `/agents/${agentId}/http-tools/${toolId}`).send(body);
const link = (agentId: string, httpToolPublicId: string, key?: string) =>
  app.api('post', `/agents/${agentId}/http-tools`, key).send({ httpToolPublicId });
const linksOf = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/http-tools`, key)).body;

/** An agent with one tool. */
async function linked(requiresApproval = false) {
  const [agent, tool] = [await makeReadyAgent(app), await makeTool(app, { requiresApproval })];
  const { body } = await link(agent.publicId, tool.publicId);
  return { agent, tool, link: body };
}

describe('200', () => {
  test.each([{ active: false }, { requiresApproval: true }, { active: false, requiresApproval: true }])(
    'changes %j and nothing else',
    async (change) => {
      const { agent, tool, link: before } = await linked();
      const { status, body } = await update(agent.publicId, tool.publicId, change);
      expect([status, body]).toEqual([200, { ...before, ...change }]);
      expect(await linksOf(agent.publicId)).toEqual([body]);
    },
  );

  test.each([true, false])(
    'null resets to the value of a new link, with a tool of requiresApproval %s',
    async (requiresApproval) => {
      const { agent, tool, link: before } = await linked(requiresApproval);
      await update(agent.publicId, tool.publicId, { active: false, requiresApproval: !requiresApproval });
      const { body } = await update(agent.publicId, tool.publicId, { active: null, requiresApproval: null });
      expect(body).toEqual(before);
    },
  );

  test("null copies the tool's present setting", async () => {
    const { agent, tool } = await linked(false);
    await app.api('patch', `/http-tools/${tool.publicId}`).send({ requiresApproval: true });
    expect((await update(agent.publicId, tool.publicId, { requiresApproval: null })).body.requiresApproval).toBe(true);
  });

  test('without a field nothing changes', async () => {
    const { agent, tool, link: before } = await linked();
    expect((await update(agent.publicId, tool.publicId, {})).body).toEqual(before);
  });

  test('a change is unpublished until it is reverted; the tool and other links stay unchanged', async () => {
    const { agent, tool } = await linked();
    const other = await makeAgent(app);
    await link(other.publicId, tool.publicId);
    await publish(app, agent.publicId);
    await update(agent.publicId, tool.publicId, { active: false });
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    expect(await linksOf(other.publicId)).toMatchObject([{ active: true }]);
    expect((await app.api('get', `/http-tools/${tool.publicId}`)).body).toEqual(tool);
    await update(agent.publicId, tool.publicId, { active: null });
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{ active: 'no' }, { requiresApproval: 1 }, { toolName: 'x' }])('refuses %j', async (body) => {
    const { agent, tool, link: before } = await linked();
    const answer = await update(agent.publicId, tool.publicId, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await linksOf(agent.publicId)).toEqual([before]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and its link stays", async () => {
    const { apiKey } = app.stranger;
    const foreign = await makeAgent(app, {}, apiKey);
    const tool = await makeTool(app, {}, apiKey);
    await link(foreign.publicId, tool.publicId, apiKey);
    const missing = await update(newId(), tool.publicId, { active: false });
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    const { status, body } = await update(foreign.publicId, tool.publicId, { active: false });
    expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    expect(await linksOf(foreign.publicId, apiKey)).toMatchObject([{ active: true }]);
  });
});

describe('404 NOT_LINKED', () => {
  test("a tool that is not linked, an unknown one and another workspace's get the same response", async () => {
    const agent = await makeAgent(app);
    const unlinked = await makeTool(app);
    const foreign = await makeTool(app, {}, app.stranger.apiKey);
    const missing = await update(agent.publicId, newId(), { active: false });
    expect([missing.status, missing.body.code]).toEqual([404, 'NOT_LINKED']);
    for (const { publicId } of [unlinked, foreign]) {
      const { status, body } = await update(agent.publicId, publicId, { active: false });
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to change', async () => {
    const { agent, tool } = await linked();
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await update(agent.publicId, tool.publicId, { active: false });
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
