import { makeAgent } from '../../support/agents/agents.ts';
import { describeListingLinks } from '../../support/agents/linkListSuites.ts';
import { link, linkApi, linksOf } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingLinks(() => app, 'http_tool');

describe('200', () => {
  test('each link with its own requiresApproval', async () => {
    const [agent, api] = [await makeAgent(app), linkApi('http_tool')];
    const links = [];
    for (const requiresApproval of [true, false]) {
      const { publicId } = await makeTool(app, { requiresApproval });
      links.unshift(await link(app, agent.publicId, api, publicId));
    }
    expect(await linksOf(app, agent.publicId, api)).toEqual(links);
    expect(links).toMatchObject([{ requiresApproval: false }, { requiresApproval: true }]);
  });
});
