import { newId } from '../../../core/ids.ts';
import { selectSkillFiles } from '../../../db/queries/tools/skills.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { linkSkill, makeSkill, storedSkillFile } from '../../support/tools/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (id: string, key?: string) => app.api('delete', `/skills/${id}`, key);
const linksOf = async (agentId: string) => (await app.api('get', `/agents/${agentId}/skills`)).body;

describe('204', () => {
  test('the skill is gone, and its files are erased', async () => {
    const made = await makeSkill(app, { files: { 'a.md': 'x' } });
    const kept = await makeSkill(app);
    const { db, workspaceId } = app.workspace;
    expect(await selectSkillFiles(db, workspaceId, made.publicId)).toHaveLength(2);
    const { status, text } = await remove(made.publicId);
    expect([status, text]).toEqual([204, '']);
    expect((await app.api('get', `/skills/${made.publicId}`)).status).toBe(404);
    expect(await selectSkillFiles(db, workspaceId, made.publicId)).toEqual([]);
    expect(await storedSkillFile(app.workspace, made.publicId, 'SKILL.md')).toBeUndefined();
    expect((await app.api('get', '/skills')).body.items).toEqual([kept]);
    expect(await selectSkillFiles(db, workspaceId, kept.publicId)).toHaveLength(1);
  });

  test('it leaves every draft that it is linked to, and only those change', async () => {
    const [made, other] = [await makeSkill(app), await makeSkill(app)];
    const [one, two, third] = [await makeReadyAgent(app), await makeAgent(app), await makeReadyAgent(app)];
    for (const agent of [one, two]) await linkSkill(app, agent.publicId, made.publicId);
    const kept = await linkSkill(app, one.publicId, other.publicId);
    for (const agent of [one, third]) await publish(app, agent.publicId);
    await remove(made.publicId);
    expect(await linksOf(one.publicId)).toEqual([kept]);
    expect(await linksOf(two.publicId)).toEqual([]);
    expect((await readAgent(app, one.publicId)).hasUnpublishedChanges).toBe(true);
    expect((await readAgent(app, third.publicId)).hasUnpublishedChanges).toBe(false);
  });
});

describe('404 SKILL_NOT_FOUND', () => {
  test("another workspace's skill and a deleted one are treated as one that does not exist", async () => {
    const foreign = await makeSkill(app, { key: app.stranger.apiKey });
    const deleted = await makeSkill(app);
    await remove(deleted.publicId);
    const missing = await remove(newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'SKILL_NOT_FOUND']);
    for (const { publicId } of [foreign, deleted]) {
      const { status, body } = await remove(publicId);
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
    const theirs = await app.api('get', `/skills/${foreign.publicId}`, app.stranger.apiKey);
    expect(theirs.body).toEqual(foreign);
  });

  test('of several at the same time one deletes it', async () => {
    const made = await makeSkill(app);
    const agent = await makeAgent(app);
    await linkSkill(app, agent.publicId, made.publicId);
    const answers = await Promise.all([1, 2, 3].map(() => remove(made.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });
});
