import { makeAgent } from '../../support/agents/agents.ts';
import { describeLinking } from '../../support/agents/linkSuites.ts';
import { link, linkApi } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSkill } from '../../support/tools/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeLinking(() => app, 'skill');

describe('201', () => {
  test('an uploaded skill is linked, active', async () => {
    const [agent, skill] = [await makeAgent(app), await makeSkill(app)];
    const body = await link(app, agent.publicId, linkApi('skill'), skill.publicId);
    expect(body).toEqual({ skillPublicId: skill.publicId, skillName: skill.name, active: true });
  });
});
