import { askForSubAgent, chain, linkSubAgent, subAgentIds } from '../../support/agents/agentSubAgents.ts';
import { makeAgent, makeReadyAgent, publish } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

/** A version may have sub-agents that are now linked in the opposite direction. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const make = async () => (await makeAgent(app)).publicId;
const restore = (agentId: string) => app.api('post', `/agents/${agentId}/versions/1/restore`).send({});

/** An agent whose version 1 has the sub-agents, and whose draft has none. */
async function publishedWith(...subAgents: string[]): Promise<string> {
  const agent = (await makeReadyAgent(app)).publicId;
  for (const id of subAgents) await linkSubAgent(app, agent, id);
  await publish(app, agent);
  for (const id of subAgents) await app.api('delete', `/agents/${agent}/sub-agents/${id}`);
  return agent;
}

test('a restoration leaves out the sub-agents that would close a cycle now', async () => {
  const [one, middle, two, free] = [await make(), await make(), await make(), await make()];
  const agent = await publishedWith(one, free, two);
  await chain(app, one, agent);
  await chain(app, two, middle, agent);
  const { status } = await restore(agent);
  expect(status).toBe(200);
  expect(await subAgentIds(app, agent)).toEqual([free]);
});

test('a concurrent restoration and link cannot close a cycle together, also over other agents', async () => {
  for (let round = 0; round < 8; round += 1) {
    const [first, second, last] = [await make(), await make(), await make()];
    const agent = await publishedWith(first);
    await Promise.all([chain(app, first, second), chain(app, last, agent)]);
    const [restored, linked] = await Promise.all([
      restore(agent),
      askForSubAgent(app, second, { subAgentPublicId: last }),
    ]);
    expect(restored.status).toBe(200);
    expect([201, 422]).toContain(linked.status);
    expect(await subAgentIds(app, agent)).toEqual(linked.status === 201 ? [] : [first]);
  }
});
