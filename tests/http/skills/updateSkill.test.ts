import { newId } from '../../../core/ids.ts';
import { withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeSkill, storedSkillFile } from '../../support/tools/skills.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const update = (id: string, body: object, key?: string) => app.api('patch', `/skills/${id}`, key).send(body);
const get = async (id: string, key?: string) => (await app.api('get', `/skills/${id}`, key)).body;

describe('200', () => {
  test('the given fields change, and the files never do', async () => {
    const made = await makeSkill(app, { files: { 'a.md': 'x' } });
    const fileBefore = await storedSkillFile(app.workspace, made.publicId, 'SKILL.md');
    clock.advance(1000);
    const updatedAt = clock.now().toISOString();
    const renamed = await update(made.publicId, { name: 'New Name 日本' });
    expect([renamed.status, renamed.body]).toEqual([200, { ...made, name: 'New Name 日本', updatedAt }]);
    const described = await update(made.publicId, { description: '' });
    expect(described.body).toEqual({ ...renamed.body, description: '' });
    expect(await get(made.publicId)).toEqual(described.body);
    expect(await storedSkillFile(app.workspace, made.publicId, 'SKILL.md')).toEqual(fileBefore);
  });

  test('nothing changes without a field, not even the time', async () => {
    const made = await makeSkill(app);
    clock.advance(1000);
    const { status, body } = await update(made.publicId, {});
    expect([status, body]).toEqual([200, made]);
  });

  test('a skill may keep its name, and take the name of a deleted one', async () => {
    const made = await makeSkill(app);
    expect((await update(made.publicId, { name: made.name })).status).toBe(200);
    const gone = await makeSkill(app);
    await app.api('delete', `/skills/${gone.publicId}`);
    expect((await update(made.publicId, { name: gone.name })).body.name).toBe(gone.name);
  });

  test('64 characters are a name, and 1024 a description', async () => {
    const made = await makeSkill(app);
    const change = { name: '😀'.repeat(64), description: '日'.repeat(1024) };
    const { status, body } = await update(made.publicId, change);
    expect([status, body]).toEqual([200, expect.objectContaining(change)]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['an empty name', { name: '' }],
    ['a blank name', { name: ' \t' }],
    ['a name of 65 characters', { name: 'x'.repeat(65) }],
    ['a name that is null', { name: null }],
    ['a description of 1025 characters', { description: 'x'.repeat(1025) }],
    ['the license', { license: 'MIT' }],
    ['the files', { files: [] }],
  ])('refuses %s', async (_what, change) => {
    const made = await makeSkill(app);
    const { status, body } = await update(made.publicId, change);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await get(made.publicId)).toEqual(made);
  });
});

describe('404 SKILL_NOT_FOUND', () => {
  test("another workspace's skill and a deleted one are treated as one that does not exist", async () => {
    const foreign = await makeSkill(app, { key: app.stranger.apiKey });
    const deleted = await makeSkill(app);
    await app.api('delete', `/skills/${deleted.publicId}`);
    for (const change of [{ name: 'taken over' }, {}]) {
      const missing = await update(newId(), change);
      expect([missing.status, missing.body.code]).toEqual([404, 'SKILL_NOT_FOUND']);
      for (const { publicId } of [foreign, deleted]) {
        const { status, body } = await update(publicId, change);
        expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
      }
    }
    expect(await get(foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });
});

describe('409 SKILL_NAME_TAKEN', () => {
  test('the name of another skill is taken, and nothing changes', async () => {
    const [one, two] = [await makeSkill(app), await makeSkill(app)];
    const { status, body } = await update(two.publicId, { name: one.name, description: 'other' });
    expect([status, body.code]).toEqual([409, 'SKILL_NAME_TAKEN']);
    expect(await get(two.publicId)).toEqual(two);
  });

  test('of several at the same time one gets the name', async () => {
    const made = [await makeSkill(app), await makeSkill(app), await makeSkill(app)];
    const answers = await Promise.all(made.map(({ publicId }) => update(publicId, { name: 'contested' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});
