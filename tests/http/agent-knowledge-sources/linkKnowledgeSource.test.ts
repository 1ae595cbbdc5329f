import { makeAgent } from '../../support/agents/agents.ts';
import { describeLinking } from '../../support/agents/linkSuites.ts';
import { link, linkApi } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSource } from '../../support/knowledge/knowledge.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeLinking(() => app, 'knowledge_source');

describe('201', () => {
  test('the source is linked, active, though it is not processed yet', async () => {
    const [agent, source] = [await makeAgent(app), await makeSource(app)];
    expect(source.processingStatus).toBe('PENDING');
    const body = await link(app, agent.publicId, linkApi('knowledge_source'), source.publicId);
    const expected = { knowledgeSourcePublicId: source.publicId, knowledgeSourceName: source.name, active: true };
    expect(body).toEqual(expected);
  });
});
