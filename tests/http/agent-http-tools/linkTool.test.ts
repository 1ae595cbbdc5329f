import { makeAgent } from '../../support/agents/agents.ts';
import { describeLinking } from '../../support/agents/linkSuites.ts';
import { link, linkApi, linksOf } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeLinking(() => app, 'http_tool');

describe('201', () => {
  const api = linkApi('http_tool');

  test.each([true, false])('the tool is linked, active, with its own requiresApproval %s', async (requiresApproval) => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app, { requiresApproval })];
    expect(await link(app, agent.publicId, api, tool.publicId)).toEqual({
      httpToolPublicId: tool.publicId,
      toolName: tool.name,
      toolType: 'HTTP_REQUEST',
      active: true,
      requiresApproval,
    });
  });

  test("a later change of the tool's requiresApproval leaves the link's as it is", async () => {
    const [agent, tool] = [await makeAgent(app), await makeTool(app, { requiresApproval: true })];
    const body = await link(app, agent.publicId, api, tool.publicId);
    await app.api('patch', `/http-tools/${tool.publicId}`).send({ requiresApproval: false });
    expect(await linksOf(app, agent.publicId, api)).toEqual([body]);
  });
});
