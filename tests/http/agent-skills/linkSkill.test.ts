import { newId } from '../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSkill } from '../../support/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const link = (agentId: string, skillPublicId: unknown) =>
  app.api('post', `/agents/${agentId}/skills`).send({ skillPublicId });
const linksOf = async (agentId: string, key?: string) => (await app.api('get', `/agents/${agentId}/skills`, key)).body;

describe('201', () => {
  test('the skill is linked, active, and in the list', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    const { status, body } = await link(agent.publicId, skill.publicId);
    expect(status).toBe(201);
    expect(body).toEqual({ skillPublicId: skill.publicId, skillName: skill.name, active: true });
    expect(await linksOf(agent.publicId)).toEqual([body]);
  });

  test('it is an unpublished change, which the next version has', async () => {
    const [agent, skill] = [await makeReadyAgent(app), await makeSkill(app)];
    await publish(app, agent.publicId);
    const { body } = await link(agent.publicId, skill.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
    await publish(app, agent.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
    const version = await app.api('get', `/agents/${agent.publicId}/versions/2`);
    expect(version.body.skills).toEqual([body]);
  });

  test('several agents may have one skill', async () => {
    const [one, two, skill] = [await makeAgent(app), await makeAgent(app), await makeSkill(app)];
    for (const agent of [one, two]) expect((await link(agent.publicId, skill.publicId)).status).toBe(201);
  });

  test('an id in upper case is the same id', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    const { status, body } = await link(agent.publicId, skill.publicId.toUpperCase());
    expect([status, body.skillPublicId]).toEqual([201, skill.publicId]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['no-id', 7, null, undefined])('refuses the id %j', async (id) => {
    const agent = await makeAgent(app);
    const { status, body } = await link(agent.publicId, id);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent answers as one that does not exist, and gets no skill", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const skill = await makeSkill(app);
    const missing = await link(newId(), skill.publicId);
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    const { status, body } = await link(foreign.publicId, skill.publicId);
    expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    expect(await linksOf(foreign.publicId, app.stranger.apiKey)).toEqual([]);
  });
});

describe('404 SKILL_NOT_FOUND', () => {
  test("another workspace's skill and a deleted one answer as one that does not exist", async () => {
    const agent = await makeAgent(app);
    const foreign = await makeSkill(app, { key: app.stranger.apiKey });
    const deleted = await makeSkill(app);
    await app.api('delete', `/skills/${deleted.publicId}`);
    const missing = await link(agent.publicId, newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'SKILL_NOT_FOUND']);
    for (const { publicId } of [foreign, deleted]) {
      const { status, body } = await link(agent.publicId, publicId);
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
    expect(await linksOf(agent.publicId)).toEqual([]);
  });

  test('a skill that is deleted meanwhile is linked to no agent', async () => {
    const agents = await Promise.all([1, 2, 3].map(() => makeAgent(app)));
    const skill = await makeSkill(app);
    const [deleted, ...linked] = await Promise.all([
      app.api('delete', `/skills/${skill.publicId}`),
      ...agents.map(({ publicId }) => link(publicId, skill.publicId)),
    ]);
    expect(deleted.status).toBe(204);
    expect(linked.every(({ status }) => status === 201 || status === 404)).toBe(true);
    for (const { publicId } of agents) expect(await linksOf(publicId)).toEqual([]);
    const { db, workspaceId } = app.workspace;
    const left = db.selectFrom('agent_links').selectAll().where('workspace_id', '=', workspaceId);
    expect(await left.where('target_id', '=', skill.publicId).execute()).toEqual([]);
  });
});

describe('409 ALREADY_LINKED', () => {
  test('a skill is linked to an agent once, also by several requests at the same time', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    const answers = await Promise.all([1, 2, 3].map(() => link(agent.publicId, skill.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const { body } = await link(agent.publicId, skill.publicId);
    expect(body.code).toBe('ALREADY_LINKED');
    expect(await linksOf(agent.publicId)).toHaveLength(1);
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('an archived agent has no draft to link to', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await link(agent.publicId, skill.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
