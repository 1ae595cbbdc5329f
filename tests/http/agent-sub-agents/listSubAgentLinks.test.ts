import { newId } from '../../../core/ids.ts';
import { linkSubAgent, subAgentIds, subAgents } from '../../support/agent-sub-agents.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const make = async () => (await makeAgent(app)).publicId;
const list = (agentId: string) => app.api('get', `/agents/${agentId}/sub-agents`);

describe('200', () => {
  test('an agent begins without', async () => {
    const { status, body } = await list(await make());
    expect([status, body]).toEqual([200, []]);
  });

  test('they come by their place, and where that is equal in the order of linking', async () => {
    const [agent, a, b, c, d] = [await make(), await make(), await make(), await make(), await make()];
    await linkSubAgent(app, agent, a, { sortOrder: 7 });
    await linkSubAgent(app, agent, b, { sortOrder: 0 });
    await linkSubAgent(app, agent, c, { sortOrder: 7 });
    await linkSubAgent(app, agent, d, { sortOrder: 3 });
    expect(await subAgentIds(app, agent)).toEqual([b, d, a, c]);
  });

  test('names are those of now, and a sub-agent that is deleted is gone', async () => {
    const [agent, renamed, deleted] = [await make(), await make(), await make()];
    const first = await linkSubAgent(app, agent, renamed);
    await linkSubAgent(app, agent, deleted);
    await app.api('patch', `/agents/${renamed}`).send({ name: 'Renamed since' });
    await app.api('delete', `/agents/${deleted}`);
    expect(await subAgents(app, agent)).toEqual([{ ...first, subAgentName: 'Renamed since' }]);
  });

  test('an archived sub-agent stays', async () => {
    const [agent, archived] = [await make(), await make()];
    await linkSubAgent(app, agent, archived);
    await setStatus(app.workspace, archived, 'archived');
    expect(await subAgentIds(app, agent)).toEqual([archived]);
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an agent of another workspace is as one that is not there', async () => {
    const foreign = (await makeAgent(app, {}, app.stranger.apiKey)).publicId;
    const [missing, strange] = [await list(newId()), await list(foreign)];
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(strange.body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('409', () => {
  test('NO_DRAFT_VERSION: an archived agent has no draft', async () => {
    const agent = await make();
    await setStatus(app.workspace, agent, 'archived');
    const { status, body } = await list(agent);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
