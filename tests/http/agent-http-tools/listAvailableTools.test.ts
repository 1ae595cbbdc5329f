import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeTool } from '../../support/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string, query: object = {}, key?: string) =>
  app.api('get', `/agents/${agentId}/http-tools/available`, key).query(query);

/** A workspace of its own with an agent and three tools. */
async function workspaceWithTools() {
  const { apiKey } = await app.database.seedWorkspace();
  const agent = await makeAgent(app, {}, apiKey);
  const tools = [
    await makeTool(app, { name: 'Get_Order', description: 'Looks an order up.' }, apiKey),
    await makeTool(
      app,
      {
        name: 'order_language',
        toolType: 'INTERNAL_VARIABLE',
        configuration: { name: 'a', type: 'string', scope: 'workspace' },
      },
      apiKey,
    ),
    await makeTool(app, { name: 'other' }, apiKey),
  ] as const;
  const link = (httpToolPublicId: string, agentId = agent.publicId) =>
    app.api('post', `/agents/${agentId}/http-tools`, apiKey).send({ httpToolPublicId });
  const names = async (query: object = {}) =>
    (await list(agent.publicId, query, apiKey)).body.map(({ name }: { name: string }) => name);
  return { apiKey, agent, tools, link, names };
}

describe('200', () => {
  test('tools of the workspace, newest first, each with what a choice needs', async () => {
    const { apiKey, agent, tools } = await workspaceWithTools();
    const { status, body } = await list(agent.publicId, {}, apiKey);
    expect(status).toBe(200);
    const shown = tools.map(({ publicId, name, description, toolType }) => ({ publicId, name, description, toolType }));
    expect(body).toEqual(shown.toReversed());
  });

  test('without those that are linked to this agent, with those that are linked to another', async () => {
    const { apiKey, tools, link, names } = await workspaceWithTools();
    const another = await makeAgent(app, {}, apiKey);
    await link(tools[0].publicId);
    await link(tools[1].publicId, another.publicId);
    expect(await names()).toEqual(['other', 'order_language']);
  });

  test('filters combine, and a search is text in any case', async () => {
    const { names } = await workspaceWithTools();
    expect(await names({ search: 'ORDER' })).toEqual(['order_language', 'Get_Order']);
    expect(await names({ search: 'order', toolType: 'INTERNAL_VARIABLE' })).toEqual(['order_language']);
    expect(await names({ search: '%' })).toEqual([]);
    expect(await names({ toolType: 'PARTNER_MCP' })).toEqual([]);
  });

  test('deleted tools are not offered', async () => {
    const { apiKey, tools, names } = await workspaceWithTools();
    await app.api('delete', `/http-tools/${tools[0].publicId}`, apiKey);
    expect(await names()).toEqual(['other', 'order_language']);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{ toolType: 'SHELL' }, { search: '' }, { search: 'x'.repeat(201) }])('refuses %j', async (query) => {
    const agent = await makeAgent(app);
    const { status, body } = await list(agent.publicId, query);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
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
