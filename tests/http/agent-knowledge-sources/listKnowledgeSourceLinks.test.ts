import { newId } from '../../../core/ids.ts';
import { makeAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSource } from '../../support/knowledge.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string) => app.api('get', `/agents/${agentId}/knowledge-sources`);

describe('200', () => {
  test('the linked sources under their present names, last linked first', async () => {
    const agent = await makeAgent(app);
    const sources = [await makeSource(app, { name: 'A' }), await makeSource(app, { name: 'B' })];
    expect((await list(agent.publicId)).body).toEqual([]);
    for (const { publicId } of sources) {
      await app.api('post', `/agents/${agent.publicId}/knowledge-sources`).send({ knowledgeSourcePublicId: publicId });
    }
    await app.api('patch', `/knowledge-sources/${sources[0]?.publicId}`).send({ name: 'Renamed' });
    const { status, body } = await list(agent.publicId);
    expect(status).toBe(200);
    expect(body).toEqual([
      { knowledgeSourcePublicId: sources[1]?.publicId, knowledgeSourceName: 'B', active: true },
      { knowledgeSourcePublicId: sources[0]?.publicId, knowledgeSourceName: 'Renamed', active: true },
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
  test('an archived agent has no draft', async () => {
    const agent = await makeAgent(app);
    await setStatus(app.workspace, agent.publicId, 'archived');
    const { status, body } = await list(agent.publicId);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
