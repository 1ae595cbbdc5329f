import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { linkSkill, makeSkill } from '../../support/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unlink = (agentId: string, skillId: string) => app.api('delete', `/agents/${agentId}/skills/${skillId}`);
const linksOf = async (agentId: string, key?: string) => (await app.api('get', `/agents/${agentId}/skills`, key)).body;

describe('204', () => {
  test('the skill leaves the draft, and stays in the workspace and with other agents', async () => {
    const [agent, other, skill] = [await makeReadyAgent(app), await makeAgent(app), await makeSkill(app)];
    await linkSkill(app, agent.publicId, skill.publicId);
    const kept = await linkSkill(app, other.publicId, skill.publicId);
    await publish(app, agent.publicId);
    const { status, text } = await unlink(agent.publicId, skill.publicId);
    expect([status, text]).toEqual([204, '']);
    expect(await linksOf(agent.publicId)).toEqual([]);
    expect(await linksOf(other.publicId)).toEqual([kept]);
    expect((await app.api('get', `/skills/${skill.publicId}`)).body).toEqual(skill);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and keeps its skill", async () => {
    const key = app.stranger.apiKey;
    const [foreign, skill] = [await makeAgent(app, {}, key), await makeSkill(app, { key })];
    const kept = await linkSkill(app, foreign.publicId, skill.publicId, key);
    const missing = await unlink(newId(), skill.publicId);
    const { status, body } = await unlink(foreign.publicId, skill.publicId);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await linksOf(foreign.publicId, key)).toEqual([kept]);
  });
});

describe('404 NOT_LINKED', () => {
  test('a skill that is not linked, that is deleted, or that never was: all the same', async () => {
    const agent = await makeAgent(app);
    const [loose, deleted] = [await makeSkill(app), await makeSkill(app)];
    const foreign = await makeSkill(app, { key: app.stranger.apiKey });
    await linkSkill(app, agent.publicId, deleted.publicId);
    await app.api('delete', `/skills/${deleted.publicId}`);
    const missing = await unlink(agent.publicId, newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'NOT_LINKED']);
    for (const { publicId } of [loose, deleted, foreign]) {
      const { status, body } = await unlink(agent.publicId, publicId);
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
  });

  test('of several at the same time one unlinks it', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    await linkSkill(app, agent.publicId, skill.publicId);
    const answers = await Promise.all([1, 2, 3].map(() => unlink(agent.publicId, skill.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to unlink from', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    await linkSkill(app, agent.publicId, skill.publicId);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await unlink(agent.publicId, skill.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
