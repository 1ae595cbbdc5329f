import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeTool } from '../../support/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string) => app.api('get', `/agents/${agentId}/http-tools`);
const link = (agentId: string, httpToolPublicId: string) =>
  app.api('post', `/agents/${agentId}/http-tools`).send({ httpToolPublicId });

describe('200', () => {
  test('the linked tools, last linked first, whatever their age', async () => {
    const agent = await makeAgent(app);
    const tools = [await makeTool(app), await makeTool(app, { requiresApproval: true }), await makeTool(app)];
    const [one, two, three] = tools.map(({ publicId }) => publicId);
    const links = [];
    for (const id of [two, three, one]) links.push((await link(agent.publicId, String(id))).body);
    const { status, body } = await list(agent.publicId);
    expect([status, body]).toEqual([200, links.toReversed()]);
  });

  test('the name is the one that the tool has now', async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app)];
    await link(agent.publicId, tool.publicId);
    await app.api('patch', `/http-tools/${tool.publicId}`).send({ name: 'renamed' });
    expect((await list(agent.publicId)).body).toMatchObject([{ toolName: 'renamed' }]);
  });

  test('an agent without tools', async () => {
    const [agent, other] = [await makeAgent(app), await makeAgent(app)];
    await link(other.publicId, (await makeTool(app)).publicId);
    expect((await list(agent.publicId)).body).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await list(newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    const { status, body } = await list(foreign.publicId);
    expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft', async () => {
    const agent = await makeAgent(app);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await list(agent.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
