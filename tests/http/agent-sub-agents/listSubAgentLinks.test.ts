import { linkSubAgent, subAgentIds, subAgents } from '../../support/agents/agentSubAgents.ts';
import { makeAgent, setStatus } from '../../support/agents/agents.ts';
import { describeListingLinks } from '../../support/agents/linkListSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const make = async () => (await makeAgent(app)).publicId;

describeListingLinks(() => app, 'sub_agent');

describe('200', () => {
  test('are sorted by sortOrder, and where that is equal in the order of linking', async () => {
    const [agent, a, b, c, d] = [await make(), await make(), await make(), await make(), await make()];
    await linkSubAgent(app, agent, a, { sortOrder: 7 });
    await linkSubAgent(app, agent, b, { sortOrder: 0 });
    await linkSubAgent(app, agent, c, { sortOrder: 7 });
    await linkSubAgent(app, agent, d, { sortOrder: 3 });
    expect(await subAgentIds(app, agent)).toEqual([b, d, a, c]);
  });

  test('a deleted sub-agent is not listed', async () => {
    const [agent, kept, deleted] = [await make(), await make(), await make()];
    const first = await linkSubAgent(app, agent, kept);
    await linkSubAgent(app, agent, deleted);
    await app.api('delete', `/agents/${deleted}`);
    expect(await subAgents(app, agent)).toEqual([first]);
  });

  test('an archived sub-agent is listed', async () => {
    const [agent, archived] = [await make(), await make()];
    await linkSubAgent(app, agent, archived);
    await setStatus(app.workspace, archived, 'archived');
    expect(await subAgentIds(app, agent)).toEqual([archived]);
  });
});
