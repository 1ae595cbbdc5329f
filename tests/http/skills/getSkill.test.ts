import { newId } from '../../../core/ids.ts';
import { withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSkill } from '../../support/tools/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (id: string, key?: string) => app.api('get', `/skills/${id}`, key);

describe('200', () => {
  test('the skill with its files, by path in byte order', async () => {
    const made = await makeSkill(app, { files: { 'b.md': 'b', 'a/z.md': '', 'a.md': 'a', Z: 'z' } });
    const { status, body } = await get(made.publicId);
    expect([status, body]).toEqual([200, made]);
    const paths = body.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['SKILL.md', 'Z', 'a.md', 'a/z.md', 'b.md']);
  });
});

describe('404 SKILL_NOT_FOUND', () => {
  test("another workspace's skill and a deleted one are treated as one that does not exist", async () => {
    const foreign = await makeSkill(app, { key: app.stranger.apiKey });
    const deleted = await makeSkill(app);
    await app.api('delete', `/skills/${deleted.publicId}`);
    const missing = await get(newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'SKILL_NOT_FOUND']);
    for (const { publicId } of [foreign, deleted]) {
      const { status, body } = await get(publicId);
      expect([status, withoutRequestId(body)]).toEqual([404, withoutRequestId(missing.body)]);
    }
    expect((await get(foreign.publicId, app.stranger.apiKey)).body).toEqual(foreign);
  });
});
