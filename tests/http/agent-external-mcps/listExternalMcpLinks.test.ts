import { makeAgent } from '../../support/agents/agents.ts';
import { describeListingLinks } from '../../support/agents/linkListSuites.ts';
import { link, linkApi, linksOf } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { storeMcp } from '../../support/tools/mcpApi.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingLinks(() => app, 'external_mcp');

describe('200', () => {
  test('all links, active or not', async () => {
    const [{ publicId }, api] = [await makeAgent(app), linkApi('external_mcp')];
    const [off, on] = [await storeMcp(app.workspace), await storeMcp(app.workspace)];
    for (const id of [off, on]) await link(app, publicId, api, id);
    await app.api('patch', `/agents/${publicId}/external-mcps/${off}`).send({ active: false }).expect(200);
    expect(await linksOf(app, publicId, api)).toMatchObject([
      { externalMcpPublicId: on, active: true },
      { externalMcpPublicId: off, active: false },
    ]);
  });
});
