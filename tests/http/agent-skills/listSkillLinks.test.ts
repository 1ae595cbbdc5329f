import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { linkSkill, makeSkill } from '../../support/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string, key?: string) => app.api('get', `/agents/${agentId}/skills`, key);

describe('200', () => {
  test('an empty list where nothing is linked', async () => {
    const agent = await makeAgent(app);
    const { status, body } = await list(agent.publicId);
    expect([status, body]).toEqual([200, []]);
  });

  test("the agent's skills, last linked first, by their present names", async () => {
    const [agent, other] = [await makeAgent(app), await makeAgent(app)];
    const [one, two, three] = [await makeSkill(app), await makeSkill(app), await makeSkill(app)];
    await linkSkill(app, other.publicId, one.publicId);
    for (const skill of [three, one, two]) await linkSkill(app, agent.publicId, skill.publicId);
    await app.api('patch', `/skills/${one.publicId}`).send({ name: 'renamed' });
    const { status, body } = await list(agent.publicId);
    expect(status).toBe(200);
    expect(body).toEqual([
      { skillPublicId: two.publicId, skillName: two.name, active: true },
      { skillPublicId: one.publicId, skillName: 'renamed', active: true },
      { skillPublicId: three.publicId, skillName: three.name, active: true },
    ]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const missing = await list(newId());
    const { status, body } = await list(foreign.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to show the skills of', async () => {
    const agent = await makeAgent(app);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await list(agent.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
