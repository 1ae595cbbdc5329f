import { makeAgent } from '../../support/agents/agents.ts';
import { describeListingAvailable } from '../../support/agents/linkListSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingAvailable(() => app, 'http_tool', ['publicId', 'name', 'description', 'toolType']);

const list = (agentId: string, query: object, key?: string) =>
  app.api('get', `/agents/${agentId}/http-tools/available`, key).query(query);

describe('200', () => {
  test('filters combine, and a search is text in any case', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const agent = await makeAgent(app, {}, apiKey);
    await makeTool(app, { name: 'Get_Order' }, apiKey);
    const variable = { name: 'a', type: 'string', scope: 'workspace' } as const;
    const language = { name: 'order_language', toolType: 'INTERNAL_VARIABLE', configuration: variable } as const;
    await makeTool(app, language, apiKey);
    await makeTool(app, { name: 'other' }, apiKey);
    const shown = async (query: object) =>
      (await list(agent.publicId, query, apiKey)).body.map(
        ({ name, toolType }: { name: string; toolType: string }) => `${name} ${toolType}`,
      );
    const [order, other] = ['Get_Order HTTP_REQUEST', 'other HTTP_REQUEST'];
    expect(await shown({})).toEqual([other, 'order_language INTERNAL_VARIABLE', order]);
    expect(await shown({ search: 'ORDER' })).toEqual(['order_language INTERNAL_VARIABLE', order]);
    expect(await shown({ search: 'order', toolType: 'INTERNAL_VARIABLE' })).toEqual([
      'order_language INTERNAL_VARIABLE',
    ]);
    expect(await shown({ search: '%' })).toEqual([]);
    expect(await shown({ toolType: 'PARTNER_MCP' })).toEqual([]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{ toolType: 'SHELL' }, { search: 'x'.repeat(201) }])('refuses %j', async (query) => {
    const agent = await makeAgent(app);
    const { status, body } = await list(agent.publicId, query);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
