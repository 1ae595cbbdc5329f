import { askForSubAgent, chain, linkSubAgent } from '../../support/agents/agentSubAgents.ts';
import { makeAgent, setStatus } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';

let app: TestApp;
let clock: TestClock;
// Each test has a workspace of its own, because the list has all agents of the workspace.
beforeEach(async () => {
  clock = new TestClock();
  app = await startTestApp({ clock });
});
afterEach(() => app.close());

const available = (agentId: string) => app.api('get', `/agents/${agentId}/sub-agents/available`);

/** Makes an agent that is newer than all before it. */
async function make(): Promise<string> {
  clock.advance(1000);
  return (await makeAgent(app)).publicId;
}

async function availableIds(agentId: string): Promise<string[]> {
  const { status, body } = await available(agentId);
  expect(status).toBe(200);
  return body.map(({ publicId }: { publicId: string }) => publicId);
}

describe('200', () => {
  test('the other agents of the workspace, newest first', async () => {
    const agent = await make();
    const [older, newer] = [await make(), await make()];
    await makeAgent(app, {}, app.stranger.apiKey);
    expect(await availableIds(agent)).toEqual([newer, older]);
  });

  test('has the fields of the schema', async () => {
    const agent = await make();
    const { publicId, name } = await makeAgent(app, { description: 'Knows invoices.' });
    const { body } = await available(agent);
    expect(body).toEqual([{ publicId, name, description: 'Knows invoices.', status: 'draft' }]);
  });

  test('leaves out agents that are linked, archived or deleted', async () => {
    const agent = await make();
    const [linked, archived, deleted, free] = [await make(), await make(), await make(), await make()];
    await linkSubAgent(app, agent, linked);
    await setStatus(app.workspace, archived, 'archived');
    await app.api('delete', `/agents/${deleted}`);
    expect(await availableIds(agent)).toEqual([free]);
    await app.api('delete', `/agents/${agent}/sub-agents/${linked}`);
    expect(await availableIds(agent)).toEqual([free, linked]);
  });

  test('leaves out agents that would close a cycle of any length', async () => {
    const [top, above, agent, below, beside] = [await make(), await make(), await make(), await make(), await make()];
    await chain(app, top, above, agent, below);
    await chain(app, top, beside);
    expect(await availableIds(agent)).toEqual([beside]);
    expect(await availableIds(below)).toEqual([beside]);
    expect(await availableIds(top)).toEqual([below, agent]);
    expect(await availableIds(beside)).toEqual([below, agent, above]);
  });

  test('lists exactly the agents that can be linked', async () => {
    const ids = [await make(), await make(), await make(), await make(), await make(), await make()];
    const [a = '', b = '', c = '', d = '', e = ''] = ids;
    await chain(app, a, b, d);
    await chain(app, a, c, d);
    await chain(app, c, e);
    for (const agent of ids) {
      const listed = await availableIds(agent);
      const taken = [];
      for (const subAgentPublicId of ids) {
        const { status } = await askForSubAgent(app, agent, { subAgentPublicId });
        if (status !== 201) continue;
        taken.push(subAgentPublicId);
        await app.api('delete', `/agents/${agent}/sub-agents/${subAgentPublicId}`);
      }
      expect(listed.sort()).toEqual(taken.sort());
    }
  });

  test('lists them for an archived agent too', async () => {
    const [agent, other] = [await make(), await make()];
    await setStatus(app.workspace, agent, 'archived');
    expect(await availableIds(agent)).toEqual([other]);
  });
});

describeMissingAgent(() => app, available);
