import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { linkSkill, makeSkill } from '../../support/skills.ts';

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app.close());

const list = (agentId: string, key?: string) => app.api('get', `/agents/${agentId}/skills/available`, key);

describe('200', () => {
  test('what is not linked to the agent, newest first', async () => {
    const [agent, other] = [await makeAgent(app), await makeAgent(app)];
    const [one, two, three] = [await makeSkill(app), await makeSkill(app), await makeSkill(app)];
    const gone = await makeSkill(app);
    await app.api('delete', `/skills/${gone.publicId}`);
    await makeSkill(app, { key: app.stranger.apiKey });
    await linkSkill(app, agent.publicId, two.publicId);
    await linkSkill(app, other.publicId, one.publicId);
    const { status, body } = await list(agent.publicId);
    expect(status).toBe(200);
    expect(body).toEqual([three, one].map(({ publicId, name, description }) => ({ publicId, name, description })));
  });

  test('what is unlinked can be linked again', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    await linkSkill(app, agent.publicId, skill.publicId);
    expect((await list(agent.publicId)).body).toEqual([]);
    await app.api('delete', `/agents/${agent.publicId}/skills/${skill.publicId}`);
    expect((await list(agent.publicId)).body).toHaveLength(1);
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
  test('an archived agent has no draft to link to', async () => {
    const agent = await makeAgent(app);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await list(agent.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
