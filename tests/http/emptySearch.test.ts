import { makeAgent } from '../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { makeSource } from '../support/knowledge/knowledge.ts';
import { makeTool } from '../support/tools/httpTools.ts';
import { storeMcp } from '../support/tools/mcpApi.ts';
import { makeSkill } from '../support/tools/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test.each<[string, () => Promise<unknown>]>([
  ['/agents', () => makeAgent(app)],
  ['/external-mcps', () => storeMcp(app.workspace)],
  ['/http-tools', () => makeTool(app)],
  ['/knowledge-sources', () => makeSource(app)],
  ['/skills', () => makeSkill(app)],
])('GET %s?search= is the whole list: an empty text is no filter', async (path, make) => {
  await make();
  await make();
  const all = await app.api('get', path);
  expect([all.status, all.body.total]).toEqual([200, 2]);
  const { status, body } = await app.api('get', `${path}?search=`);
  expect([status, body]).toEqual([200, all.body]);
});
